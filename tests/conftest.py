"""Fixtures and settings for all tests."""

import runpy
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from solver.game.rules import Rules, get_rules
from solver.solving.job import solve
from tests.support.paths import GOLDEN, SCRIPTS

Run = Callable[..., tuple[int, str, str]]
"""(name, arguments) -> (exit status, output, errors)."""

# The first example of a test may have to wait for the compiler.
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

collect_ignore = ["fuzz/parsers.py"]  # a program of its own, which needs atheris


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of the golden data; its README names the sources."""
    return GOLDEN


@pytest.fixture(scope="session")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Rules], Path]:
    """Gives the directory of a rule set, solved at first use. Tests read it; those that write work on a copy."""
    base = tmp_path_factory.mktemp("solved")

    @cache
    def directory(rules: Rules) -> Path:
        solve(rules, base / rules.name, progress=False)
        return base / rules.name

    return directory


@pytest.fixture(scope="session")
def six(solved: Callable[[Rules], Path]) -> Path:
    """The solved directory of ``six``."""
    return solved(get_rules("six"))


@pytest.fixture(scope="session")
def six_double(solved: Callable[[Rules], Path]) -> Path:
    """The solved directory of ``six-double``."""
    return solved(get_rules("six-double"))


@pytest.fixture(scope="session")
def six_limited(solved: Callable[[Rules], Path]) -> Path:
    """The solved directory of ``six`` with a quiet limit of 40."""
    return solved(get_rules("six", quiet_limit=40))


@pytest.fixture(scope="session")
def five(solved: Callable[[Rules], Path]) -> Path:
    """The solved directory of ``five``."""
    return solved(get_rules("five"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a script in this process; gives (exit status, output, errors)."""

    def run_script(name: str, *arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            runpy.run_path(str(SCRIPTS / name), run_name="__main__")
        out, errors = capsys.readouterr()
        return (left.value.code or 0), out, errors  # type: ignore[return-value]

    return run_script
