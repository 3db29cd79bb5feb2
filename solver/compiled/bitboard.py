"""Bit tricks for compiled code: count, scan, compress, expand, permute.

A set of points is a ``uint64`` whose bit ``p`` is point ``p``; boards have at most 24 points, so three bytes matter and
every table is indexed by a byte. Numba turns ``uint64 + int64`` into ``float64`` or ``int64``: all constants that meet
a mask are ``uint64``, and kernels write ``U(...)`` around the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from solver.compiled.jit import jit, numba_config

U = np.uint64
ZERO, ONE = U(0), U(1)
BYTE = U(255)
_B8, _B16 = U(8), U(16)
_ROW1, _ROW2 = U(256), U(512)

_PY_MASK = (1 << 64) - 1


def _llvm_unary(name: str, has_poison_flag: bool) -> Any:
    """An intrinsic ``uint64 -> uint64`` that calls the LLVM function ``name``."""

    @intrinsic
    def call(typing_context: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            arguments = [*args, ir.Constant(ir.IntType(1), 0)] if has_poison_flag else list(args)
            kind = ir.FunctionType(ir.IntType(64), [a.type for a in arguments])
            function: Any = cgutils.get_or_insert_function
            return builder.call(function(builder.module, kind, name), arguments)

        return types.uint64(types.uint64), codegen

    return call


if numba_config.DISABLE_JIT:

    def trailing_zeros(x: Any) -> Any:
        """Number of the lowest set bit of ``x``; 64 for 0."""
        value = int(x) & _PY_MASK
        return U((value & -value).bit_length() - 1) if value else U(64)

    def popcount(x: Any) -> Any:
        """Number of set bits of ``x``."""
        return U((int(x) & _PY_MASK).bit_count())

else:
    trailing_zeros = _llvm_unary("llvm.cttz.i64", has_poison_flag=True)
    popcount = _llvm_unary("llvm.ctpop.i64", has_poison_flag=False)


def _byte_compress_tables() -> tuple[np.ndarray, np.ndarray]:
    """``compress[mask << 8 | x]`` packs the bits of ``x`` selected by ``mask`` together; ``expand`` is its inverse."""
    compress = np.zeros(65536, np.uint8)
    expand = np.zeros(65536, np.uint8)
    for mask in range(256):
        bits = [bit for bit in range(8) if mask >> bit & 1]
        for x in range(256):
            compress[mask << 8 | x] = sum(1 << k for k, bit in enumerate(bits) if x >> bit & 1)
            expand[mask << 8 | x] = sum(1 << bit for k, bit in enumerate(bits) if x >> k & 1)
    return compress, expand


_COMPRESS, _EXPAND = _byte_compress_tables()


@jit
def compress(x, mask):
    """The bits of ``x`` under ``mask``, packed to the low end in order (24 bits)."""
    mask0 = (mask & BYTE) << _B8
    mask1 = mask & (BYTE << _B8)
    mask2 = (mask >> _B8) & (BYTE << _B8)
    n0 = popcount(mask0)
    n1 = n0 + popcount(mask1)
    return (
        U(_COMPRESS[mask0 | (x & BYTE)])
        | (U(_COMPRESS[mask1 | ((x >> _B8) & BYTE)]) << n0)
        | (U(_COMPRESS[mask2 | ((x >> _B16) & BYTE)]) << n1)
    )


@jit
def expand(x, mask):
    """The low bits of ``x``, spread in order over the set bits of ``mask`` (24 bits): the inverse of ``compress``."""
    mask0 = (mask & BYTE) << _B8
    mask1 = mask & (BYTE << _B8)
    mask2 = (mask >> _B8) & (BYTE << _B8)
    n0 = popcount(mask0)
    n1 = n0 + popcount(mask1)
    return (
        U(_EXPAND[mask0 | (x & BYTE)])
        | (U(_EXPAND[mask1 | ((x >> n0) & BYTE)]) << _B8)
        | (U(_EXPAND[mask2 | ((x >> n1) & BYTE)]) << _B16)
    )


@jit
def by_bytes(table, x):
    """``table[x0] | table[256 + x1] | table[512 + x2]`` over the three bytes of ``x`` (table: 768 entries)."""
    return U(table[x & BYTE]) | U(table[_ROW1 + ((x >> _B8) & BYTE)]) | U(table[_ROW2 + ((x >> _B16) & BYTE)])


def byte_table(images: Sequence[int], dtype: Any = np.uint64) -> np.ndarray:
    """The 768-entry table for :func:`by_bytes` that joins ``images[p]`` over the set bits ``p``."""
    table = np.zeros(768, dtype)
    for p, image in enumerate(images):
        for byte in range(256):
            if byte >> (p & 7) & 1:
                table[(p >> 3) * 256 + byte] |= dtype(image)
    return table
