"""The interactive board in JupyterLab in a real browser: games by clicks.

It needs chromium, chromedriver and the extra ``browser-test``::

    apt-get install chromium chromium-driver
    pip install -e ".[browser-test]"
    python -m pytest -m browser tests/test_browser.py

Screenshots go into the test's temporary folder, or into the folder that ``MERELS_SCREENSHOTS`` names.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from solver.game.position import Move, Position
from solver.game.rules import get_rules
from solver.lookup.tablebase import open_tablebase
from solver.pictures.svg import PALETTES
from tests.play.test_explorer import FLYING, TWO_MILLS, clicks_of
from tests.support.paths import ROOT

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,1100"
)
# JupyterLab makes a notebook the current one when it gets the focus, which a browser without a window may not give.
IS_READY = """
    const lab = window.jupyterapp;
    if (!document.querySelector('.jp-Notebook .jp-CodeCell') || !lab?.commands.hasCommand('notebook:run-all-cells'))
        return false;
    const notebook = [...lab.shell.widgets('main')].find(widget => widget.sessionContext);
    if (notebook?.sessionContext.session?.kernel?.status !== 'idle')
        return false;
    lab.shell.activateById(notebook.id);
    return true;
"""
PATIENCE = 180  # seconds; a busy machine takes its time to start JupyterLab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A JupyterLab server of its own: its address and the folder that it serves."""
    pytest.importorskip("jupyterlab", reason='needs the extra browser-test: pip install -e ".[browser-test]"')
    base = tmp_path_factory.mktemp("lab")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        **{f"JUPYTER_{kind}_DIR": str(base / kind) for kind in ("CONFIG", "DATA", "RUNTIME")},
        "JUPYTERLAB_SETTINGS_DIR": str(base / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(base / "workspaces"),
    }
    notebooks = base / "notebooks"
    notebooks.mkdir()
    command = f"-m jupyterlab --no-browser --allow-root --port={port} --ip=127.0.0.1 --expose-app-in-browser"
    options = [f"--ServerApp.root_dir={notebooks}", "--IdentityProvider.token=", "--ServerApp.password="]
    with open(base / "log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, *command.split(), *options], env=environment, stdout=log, stderr=log, cwd=notebooks
        )
        try:
            yield f"http://127.0.0.1:{port}/lab", notebooks
        finally:
            server.terminate()
            server.wait(30)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser without a window."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium or chromedriver here: apt-get install chromium chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs the extra browser-test")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield browser
    browser.quit()


class Board:
    """The widget on the page."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser

    def find(self, selector: str) -> list[Any]:
        return self.browser.find_elements("css selector", f".merels-explorer {selector}")

    def wait(self, found: Callable[[], object], what: str) -> None:
        from selenium.common.exceptions import StaleElementReferenceException

        def is_found() -> bool:
            try:
                return bool(found())
            except StaleElementReferenceException:  # drawn anew between two questions
                return False

        end = time.monotonic() + PATIENCE
        while not is_found():
            assert time.monotonic() < end, f"{what}; the board says {self.message!r}, {self.fen!r}"
            time.sleep(0.02)

    @property
    def fen(self) -> str:
        return self.find(".merels-paste input")[0].get_property("value")

    @property
    def message(self) -> str:
        return self.find(".merels-message")[0].text

    def click(self, point: int) -> None:
        self.find(f'[data-point="{point}"]')[0].click()

    def press(self, action: str) -> None:
        self.find(f".merels-{action}")[0].click()

    def has(self, name: str, point: int) -> bool:
        return bool(self.find(f'[data-point="{point}"] .{name}'))

    def play(self, move: Move) -> None:
        """All clicks of a turn; before each the page shows that it may be made."""
        if move.origin is not None:
            assert self.has("movable", move.origin)
            self.click(move.origin)
            self.wait(lambda: self.has("selected", move.origin or 0), "the stone is not picked up")
        assert self.has("target", move.target)
        self.click(move.target)
        for number, point in enumerate(move.taken):
            self.wait(lambda p=point: self.has("takeable", p), "the stone is not offered")
            assert self.has("selected", move.target)
            assert len(self.find(".selected")) == 1 + number
            self.click(point)

    def wait_for(self, position: Position) -> None:
        self.wait(lambda: self.fen == position.fen(), f"expected {position.fen()}")

    def paste(self, text: str) -> None:
        entry = self.find(".merels-paste input")[0]
        entry.clear()
        entry.send_keys(text)
        self.find(".merels-paste button")[0].click()


@pytest.fixture
def show(lab: tuple[str, Path], driver: Any, request: pytest.FixtureRequest) -> Callable[[str], Board]:
    """Run a cell in a notebook of its own and return the board that it shows."""
    nbformat = pytest.importorskip("nbformat")
    address, folder = lab

    def run(code: str) -> Board:
        name = f"{request.node.name}.ipynb".replace("[", "-").replace("]", "")
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)], metadata=kernel)
        nbformat.write(notebook, folder / name)
        board = Board(driver)

        def answers() -> bool:
            try:
                driver.get(f"{address}/tree/{name}?reset")
            except Exception as error:
                if "ERR_CONNECTION_REFUSED" in str(error):  # the server is still starting
                    return False
                raise
            return True

        end = time.monotonic() + PATIENCE
        while not answers():
            assert time.monotonic() < end, "JupyterLab does not start"
            time.sleep(0.3)
        while not driver.execute_script(IS_READY):
            assert time.monotonic() < end, "the notebook does not open"
            time.sleep(0.2)
        driver.execute_script("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        while not board.find("svg"):
            assert time.monotonic() < end, driver.execute_script(
                "return document.querySelector('.jp-Notebook').innerText"
            )
            time.sleep(0.1)
        return board

    return run


@pytest.fixture
def screenshot(driver: Any, tmp_path: Path) -> Callable[[str], Path]:
    folder = Path(os.environ.get("MERELS_SCREENSHOTS", tmp_path))

    def take(name: str) -> Path:
        path = folder / f"{name}.png"
        assert driver.save_screenshot(str(path))
        assert path.stat().st_size > 10_000
        return path

    return take


def test_a_whole_game_against_the_perfect_player(
    show: Callable[[str], Board], screenshot: Callable[[str], Path], six: Path
) -> None:
    """Six men's morris to its end; the clicks of a random White, who takes stones when it can."""
    board = show(
        "from solver import open_tablebase\nfrom solver.play.explorer import Explorer\n"
        f"Explorer(tablebase=open_tablebase({str(six)!r}), perfect='black')"
    )
    removals, random, game = 0, Random(5), Position(get_rules("six"))
    with open_tablebase(six) as tablebase:
        while not game.is_over():
            board.wait_for(game)
            takes = [move for move in game.legal_moves if move.taken]
            move = random.choice(takes or game.legal_moves)
            board.play(move)
            game.push(move)
            removals += len(move.taken)
            if not game.is_over():
                game.push(tablebase.best_moves(game)[0])
            if len(game.move_stack) == 10:
                board.wait_for(game)
                screenshot("six-with-values")
    board.wait_for(game)
    board.wait(lambda: "The game is over: Black won" in board.message, "the game does not end")
    assert removals > 0
    assert [item.text for item in board.find(".merels-history button")][1:] == [
        f"{number}. {move}" for number, move in enumerate(game.move_stack, start=1)
    ]
    screenshot("six-over")


def test_a_double_removal(show: Callable[[str], Board], screenshot: Callable[[str], Path]) -> None:
    board = show("from solver.play.explorer import Explorer\nExplorer('six-double')")
    game = Position(get_rules("six-double"))
    for text in (*TWO_MILLS, "e5xb2xc2"):
        move = game.parse_move(text)
        if move.taken:
            board.click(move.target)
            board.wait(lambda: "takes 2 stones" in board.message, "two stones are not offered")
            screenshot("double-removal")
            for point in move.taken:
                board.click(point)
                board.wait(lambda p=point: not board.has("takeable", p), "the stone is not chosen")
        else:
            board.play(move)
        game.push(move)
        board.wait_for(game)
    assert game.black.bit_count() == 2


def test_a_flight_and_the_buttons(show: Callable[[str], Board], screenshot: Callable[[str], Path]) -> None:
    """On the 24 points: paste a position, fly, take, go back and forth, flip, play by the list of turns."""
    board = show("from solver.play.explorer import Explorer\nExplorer('nine')")
    board.paste(FLYING)
    game = Position.from_fen(get_rules("nine"), FLYING)
    board.wait_for(game)
    flight = next(m for m in game.legal_moves if m.origin == 0 and m.target == 23)
    assert not game.board.neighbours[0] >> 23 & 1
    board.play(flight)
    game.push(flight)
    board.wait_for(game)
    screenshot("after-a-flight")

    reply = next(m for m in game.legal_moves if not m.taken and m.target == 0)
    board.find(f'[data-turn="{reply}"]')[0].click()
    game.push(reply)
    board.wait_for(game)

    board.press("undo")
    game.pop()
    board.wait_for(game)
    board.find('.merels-history [data-ply="0"]')[0].click()
    board.wait_for(Position.from_fen(get_rules("nine"), FLYING))
    board.press("redo")
    board.wait_for(game)

    y = board.find('[data-point="0"]')[0].location["y"]
    board.press("flip")
    board.wait(lambda: board.find('[data-point="0"]')[0].location["y"] > y + 100, "the board is not turned")

    board.click(23)
    board.wait(lambda: "c4 is White's stone" in board.message, "no word about a wrong click")
    board.paste("<img src=x onerror=alert(1)>")
    board.wait(lambda: "position text" in board.message, "no word about a bad position")
    assert board.fen.startswith("<img")  # left for the reader to correct, while the game goes on
    board.press("undo")
    game.pop()
    board.wait_for(game)


def test_the_theme_of_the_page(show: Callable[[str], Board], screenshot: Callable[[str], Path]) -> None:
    board = show("from solver.play.explorer import Explorer\nExplorer('six')")
    for name, theme in (("JupyterLab Dark", "dark"), ("JupyterLab Light", "light")):
        change = f"window.jupyterapp.commands.execute('apputils:change-theme', {{theme: '{name}'}})"
        board.browser.execute_script(change)
        ground = PALETTES[theme]["ground"]
        board.wait(lambda g=ground: board.find(".ground")[0].get_attribute("fill") == g, f"the board is not {theme}")
        screenshot(f"theme-{theme}")


def test_the_keyboard_is_enough(show: Callable[[str], Board]) -> None:
    board = show("from solver.play.explorer import Explorer\nExplorer('six')")
    game = Position(get_rules("six"))
    for text, key in (("c4", "\ue007"), ("a5", " ")):  # Enter and space
        move = game.parse_move(text)
        (point,) = board.find(f'[data-point="{clicks_of(move)[0]}"]')
        point.send_keys(key)
        game.push(move)
        board.wait_for(game)
