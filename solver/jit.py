"""The one place with the numba settings of the package.

Compiled code is cached on disk, in a folder named after a hash of *all* compiled sources. Numba by itself looks at the
time stamp of the module of one function only and would go on using machine code whose callees, in another module, have
changed. Where no cache folder can be written, the functions are compiled anew in each process and nothing fails.

``NUMBA_CACHE_DIR`` moves the cache, ``NUMBA_DISABLE_JIT=1`` runs the kernels as plain Python, and
``MERELS_BOUNDSCHECK=1`` compiles them with bounds checks, in a cache of their own.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numba.core.config

F = TypeVar("F", bound=Callable[..., Any])

BOUNDSCHECK = os.environ.get("MERELS_BOUNDSCHECK", "") == "1"
_PACKAGE = Path(__file__).parent

numba_config: Any = numba.core.config  # its settings are made at run time


def _sources_hash() -> str:
    """A hash of every source of the package that holds compiled code, and of the compiler's version."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {BOUNDSCHECK}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"solver.jit" in source or path == Path(__file__):
            digest.update(source)
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()))
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _writable_cache_folder() -> str | None:
    """The folder for compiled code, or None where it cannot be made or written."""
    try:
        base = Path(numba_config.CACHE_DIR) if numba_config.CACHE_DIR else _user_cache() / "merels"
        folder = base / f"compiled-{_sources_hash()}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        return None
    return str(folder)


CACHE_FOLDER = _writable_cache_folder()


def jit(function: F) -> F:
    """Compile ``function`` on first use: no GIL, C division, cached on disk where possible."""
    return _compile(function)


def jit_inner(function: F) -> F:
    """The same for a helper that only compiled code calls. It must not allocate or return arrays.

    It has no wrapper for Python, which takes longer to compile than the function itself, and counts no references:
    numba would count up and down, atomically and at each call, every array of the records that kernels hand around.
    """
    return _compile(function, no_cpython_wrapper=True, _nrt=False, forceinline=True)


def _compile(function: F, **options: bool) -> F:
    njit: Any = numba.njit
    options |= {"nogil": True, "boundscheck": BOUNDSCHECK, "no_cfunc_wrapper": True}
    compiled: F = njit(error_model="numpy", **options)(function)
    if CACHE_FOLDER is not None and not numba_config.DISABLE_JIT:
        _enable_cache(compiled)
    return compiled


def _enable_cache(compiled: Any) -> None:
    """Cache ``compiled`` in our folder; numba reads its setting here only, so other users of numba keep theirs."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = CACHE_FOLDER
    try:
        compiled.enable_caching()
    except RuntimeError:
        pass  # a function without a source file is compiled anew each time
    finally:
        numba_config.CACHE_DIR = before
