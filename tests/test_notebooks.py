"""Notebooks: stored without output, and executed from top to bottom.

The second part needs the extra ``notebook`` and takes a minute or two::

    python -m pytest -m notebooks tests/test_notebooks.py
"""

import os
from pathlib import Path

import nbformat
import pytest

from tests.support.paths import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PATIENCE = 170  # seconds; all together are to take less than three minutes


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_without_output(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) > 3
    for cell in code:
        assert (cell.outputs, cell.execution_count) == ([], None)
        compile(cell.source.replace("%matplotlib inline", ""), str(path), "exec")
    assert notebook.cells[0].source.startswith("# ")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the notebooks keep their tables; the second one finds what the first has made."""
    return tmp_path_factory.mktemp("data")


@pytest.mark.notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason='needs the extra notebook: pip install -e ".[notebook]"')
    pytest.importorskip("ipykernel", reason='needs the extra notebook: pip install -e ".[notebook]"')
    monkeypatch.setenv("MERELS_DATA", str(data))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(FOLDER.parent), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    pictures = [output for output in outputs if {"image/svg+xml", "image/png"} & set(output.get("data", {}))]
    assert pictures, "a notebook without a picture"
    if executed := os.environ.get("MERELS_EXECUTED"):  # a folder to look at the outputs in
        nbformat.write(notebook, Path(executed) / path.name)
