"""Fixtures and settings for all tests."""

from pathlib import Path

import pytest
from hypothesis import settings

# The first example of a test may have to wait for the compiler.
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of the golden data; its README names the sources."""
    return Path(__file__).parent / "data"
