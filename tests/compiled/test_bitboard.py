"""Bit tricks against plain Python loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.compiled import bitboard
from solver.compiled.bitboard import U, byte_table
from solver.compiled.jit import jit

ALL_BITS = (1 << 64) - 1
masks = st.integers(0, (1 << 24) - 1)
words = st.integers(0, ALL_BITS)


# Intrinsics can be called by compiled code only.
@jit
def popcount(x):
    return bitboard.popcount(x)


@jit
def trailing_zeros(x):
    return bitboard.trailing_zeros(x)


def bits_of(mask: int) -> list[int]:
    return [p for p in range(64) if mask >> p & 1]


def slow_compress(x: int, mask: int) -> int:
    return sum((x >> p & 1) << k for k, p in enumerate(bits_of(mask)))


def slow_expand(x: int, mask: int) -> int:
    return sum((x >> k & 1) << p for k, p in enumerate(bits_of(mask)))


@given(words)
def test_popcount(x: int) -> None:
    assert popcount(U(x)) == x.bit_count()


@given(words)
def test_trailing_zeros(x: int) -> None:
    assert trailing_zeros(U(x)) == (bits_of(x)[0] if x else 64)


@pytest.mark.parametrize("x", [0, 1, 1 << 63, ALL_BITS, ALL_BITS - 1, 1 << 32], ids=hex)
def test_counts_at_the_ends_of_the_word(x: int) -> None:
    assert popcount(U(x)) == x.bit_count()
    assert trailing_zeros(U(x)) == (bits_of(x)[0] if x else 64)


@pytest.mark.parametrize("function", [popcount, trailing_zeros])
def test_counts_are_unsigned(function) -> None:
    """A signed count would turn masks that meet it into signed numbers or floats."""
    result = function(U(6))
    assert int(result) == result
    compiled = getattr(function, "nopython_signatures", None)
    assert compiled is None or {str(signature.return_type) for signature in compiled} == {"uint64"}


@given(masks, masks)
def test_compress(x: int, mask: int) -> None:
    assert bitboard.compress(U(x), U(mask)) == slow_compress(x, mask)


@given(words, masks)
def test_expand(x: int, mask: int) -> None:
    assert bitboard.expand(U(x), U(mask)) == slow_expand(x, mask)


@given(words, masks)
def test_expand_and_compress_undo_each_other(x: int, mask: int) -> None:
    assert bitboard.expand(bitboard.compress(U(x), U(mask)), U(mask)) == x & mask
    low_bits = (1 << mask.bit_count()) - 1
    assert bitboard.compress(bitboard.expand(U(x), U(mask)), U(mask)) == x & low_bits


@given(st.integers(0, 255), st.sampled_from([0, 8, 16]))
def test_compress_and_expand_within_one_byte(mask: int, shift: int) -> None:
    """All 256 values of a byte, with full bytes around it."""
    others = (1 << 24) - 1 ^ 255 << shift
    mask = mask << shift | others
    for byte in range(0, 256, 5):
        x = byte << shift
        assert bitboard.compress(U(x), U(mask)) == slow_compress(x, mask)
        assert bitboard.expand(U(x), U(mask)) == slow_expand(x, mask)


@given(st.lists(words, min_size=1, max_size=24), masks)
def test_by_bytes_joins_the_images_of_the_points(images: list[int], mask: int) -> None:
    mask &= (1 << len(images)) - 1
    expected = 0
    for p in bits_of(mask):
        expected |= images[p]
    assert bitboard.by_bytes(byte_table(images), U(mask)) == expected


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_byte_tables_have_the_type_asked_for(dtype: type[np.unsignedinteger]) -> None:
    table = byte_table([1, 2, 4], dtype)
    assert (table.dtype, table.shape) == (dtype, (768,))
    assert [int(table[byte]) for byte in range(8)] == list(range(8))
    assert not table[8:256:8].any()
