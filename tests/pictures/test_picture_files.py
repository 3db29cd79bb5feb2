"""The pictures of the README are what the script makes."""

import runpy
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.paths import ROOT

PICTURES = ROOT / "docs" / "pictures"


def test_the_script_makes_the_pictures(six: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["pictures.py", str(six), "--out", str(tmp_path / "new")])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(ROOT / "scripts" / "pictures.py"), run_name="__main__")
    assert not left.value.code
    made = sorted((tmp_path / "new").iterdir())
    assert [path.name for path in made] == sorted(path.name for path in PICTURES.glob("*.svg"))
    for path in made:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
        if not path.name.startswith("nine-shares"):  # which another version of matplotlib may write otherwise
            assert path.read_text() == (PICTURES / path.name).read_text()


def test_importing_the_package_does_not_import_what_draws() -> None:
    unwanted = {"matplotlib", "anywidget", "solver.pictures.drawing", "resvg_py"}
    check = f"import sys, solver; print(sorted({unwanted} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.strip() == "[]"
