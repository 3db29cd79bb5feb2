"""Where the tests find the project's own files."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The checkout."""

GOLDEN = ROOT / "tests" / "data"
"""The folder of the golden data; its README names the sources."""

SCRIPTS = ROOT / "scripts"
RESULTS = ROOT / "data" / "results"
