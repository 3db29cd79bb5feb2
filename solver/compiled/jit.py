"""The one place with the numba settings of the package.

Compiled code is cached on disk, in a folder named after a hash of *all* compiled sources. Numba by itself looks at the
time stamp of the module of one function only and would go on using machine code whose callees, in another module, have
changed. Where no cache folder can be written, the functions are compiled anew in each process and nothing fails. Cached
files carry checksums, since machine code with a flipped bit would be run all the same; damaged ones are replaced.

``NUMBA_CACHE_DIR`` moves the cache, ``NUMBA_DISABLE_JIT=1`` runs the kernels as plain Python, and
``MERELS_BOUNDSCHECK=1`` compiles them with bounds checks, in a cache of their own.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numba
import numba.core.config
from numba.core.caching import IndexDataCacheFile

F = TypeVar("F", bound=Callable[..., Any])

BOUNDSCHECK = os.environ.get("MERELS_BOUNDSCHECK", "") == "1"
_PACKAGE = Path(__file__).parents[1]
_DIGEST_BYTES = hashlib.sha256().digest_size

numba_config: Any = numba.core.config  # its settings are made at run time


def _sources_hash() -> str:
    """A hash of every source of the package that holds compiled code, and of the compiler's version."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {BOUNDSCHECK}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"solver.compiled.jit" in source or path == Path(__file__):
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


class _CheckedCacheFile(IndexDataCacheFile):
    """The cache files of a function, believed only as long as their checksums fit."""

    def load(self, key: Any) -> Any:
        """The cached data of ``key``, or None where there are none, or damaged ones."""
        try:
            return super().load(key)  # type: ignore[no-untyped-call]  # numba annotates nothing
        except Exception:  # damaged pickles raise anything
            with suppress(OSError):  # or a folder that may not be written any more
                self.flush()
            return None

    def save(self, key: Any, data: Any) -> None:
        """Keep ``data``, if the folder still takes it."""
        with suppress(OSError):
            super().save(key, data)  # type: ignore[no-untyped-call]

    def _load_index(self) -> Any:
        try:
            stamp, overloads = self._read(self._index_path)
        except FileNotFoundError:
            return {}
        return overloads if stamp == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, ((self._version, self._source_stamp), overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        content = Path(path).read_bytes()
        if hashlib.sha256(content[_DIGEST_BYTES:]).digest() != content[:_DIGEST_BYTES]:
            raise ValueError(f"{path}: damaged")
        return pickle.loads(content[_DIGEST_BYTES:])

    def _write(self, path: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)


def _enable_cache(compiled: Any) -> None:
    """Cache ``compiled`` in our folder; numba reads its setting here only, so other users of numba keep theirs."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = CACHE_FOLDER
    try:
        compiled.enable_caching()
        plain = compiled._cache._cache_file
        base = plain._index_name.removesuffix(".nbi")
        compiled._cache._cache_file = _CheckedCacheFile(plain._cache_path, base, plain._source_stamp)
    except RuntimeError:
        pass  # a function without a source file is compiled anew each time
    finally:
        numba_config.CACHE_DIR = before
