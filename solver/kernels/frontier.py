"""The frontier of a level: which positions have a given code, as lists per row.

``find_code`` scans several values a word: a lane of ``x = word ^ pattern`` is zero where the code stands, and ``~(((x
& low) + low) | x | low)`` has the top bit of exactly those lanes set (low = all bits of a lane but its top one).
"""

from __future__ import annotations

import numpy as np

from solver.compiled.bitboard import ONE, ZERO, U, compress, expand, popcount, trailing_zeros
from solver.compiled.jit import jit, jit_inner
from solver.indexing.rows import class_and_symmetry
from solver.kernels.tables import image_of


@jit_inner
def may_hold(side, row, code):
    """Whether ``row`` may hold ``code`` (no false negatives)."""
    return (side.pending[row, (code & 255) >> 6] >> U(code & 63)) & ONE


@jit_inner
def note_code(side, row, code):
    """Note that ``row`` holds ``code``."""
    side.pending[row, (code & 255) >> 6] |= ONE << U(code & 63)


@jit_inner
def find_code(words, code, lanes, out):
    """List the columns of one row that hold ``code``; returns their number. words: (8 k,); out: (C,) at least."""
    pattern = U(code) * lanes[0]
    low = lanes[1]
    shift = lanes[3]
    n = 0
    for block in range(0, words.size, 8):
        hits = ZERO
        for k in range(8):
            x = words[block + k] ^ pattern
            hits |= ~(((x & low) + low) | x | low)
        if hits == ZERO:
            continue
        for k in range(8):
            x = words[block + k] ^ pattern
            hits = ~(((x & low) + low) | x | low)
            base = (U(block + k) << U(6)) >> shift
            while hits:
                out[n] = base + (trailing_zeros(hits) >> shift)
                n += 1
                hits &= hits - ONE
    return n


@jit
def count_frontier(first, last, code, lanes, side, counts):
    """counts[row] = positions of the row that hold ``code``, for rows first..last-1."""
    pattern = U(code) * lanes[0]
    low = lanes[1]
    for row in range(first, last):
        n = ZERO
        if may_hold(side, row, code):
            words = side.words[row]
            for k in range(words.size):
                x = words[k] ^ pattern
                n += popcount(~(((x & low) + low) | x | low))
        counts[row] = n


@jit
def list_frontier(first, last, code, lanes, pair, side, start, masks):
    """masks[start[row]..]: the compressed column mask of each position of the row that holds ``code``."""
    found = np.empty(pair.columns.subsets.size, np.uint32)
    for row in range(first, last):
        if start[row + 1] == start[row]:
            continue
        n = find_code(side.words[row], code, lanes, found)
        out = masks[start[row] : start[row + 1]]
        for k in range(n):
            out[k] = pair.columns.subsets[found[k]]


@jit_inner
def _is_first_of_equals(pair, row_stones, z, free):
    """Whether no symmetry that keeps the row's stones maps column mask ``z`` to a smaller one."""
    stones = expand(z, free)
    for g in range(pair.symmetries.images.shape[0]):
        keeps = image_of(pair.symmetries, g, row_stones) == row_stones
        if keeps and compress(image_of(pair.symmetries, g, stones), free) < z:
            return False
    return True


@jit_inner
def _mirror_images(pair, row, z, images):
    """The indices of the mirror image (sides exchanged) of one index: (row, how many), their column stones in images.

    Between rows that no symmetry keeps, mirroring is one to one. Else a class may have several indices on either side:
    then the first index of the class stands for all of them, and all indices of the mirrored class are listed.
    """
    row_stones = U(pair.rows.representatives[row])
    free = pair.board.points & ~row_stones
    mirrored, symmetry = class_and_symmetry(pair.rows, expand(z, free))
    image = image_of(pair.symmetries, symmetry, row_stones)
    images[0] = image
    if not (pair.stabilised[row] or pair.stabilised[mirrored]):
        return mirrored, 1
    if not _is_first_of_equals(pair, row_stones, z, free):
        return mirrored, 0
    mirrored_stones = U(pair.rows.representatives[mirrored])
    n = 0
    for g in range(pair.symmetries.images.shape[0]):
        if image_of(pair.symmetries, g, mirrored_stones) == mirrored_stones:
            images[n] = image_of(pair.symmetries, g, image)
            n += 1
            for k in range(n - 1):
                if images[k] == images[n - 1]:
                    n -= 1
                    break
    return mirrored, n


@jit
def count_mirrored(first, last, code, lanes, pair, side, counts):
    """counts[row] += mirror images, in ``row``, of the positions of rows first..last-1 that hold ``code``."""
    found = np.empty(pair.columns.subsets.size, np.uint32)
    images = np.empty(pair.symmetries.images.shape[0] + 1, np.uint64)
    for row in range(first, last):
        if may_hold(side, row, code):
            for k in range(find_code(side.words[row], code, lanes, found)):
                mirrored, n = _mirror_images(pair, row, U(pair.columns.subsets[found[k]]), images)
                counts[mirrored] += n


@jit
def list_mirrored(first, last, code, lanes, pair, side, slab_first, slab_last, cursor, masks):
    """Like ``list_frontier`` for the mirror images that lie in rows slab_first..slab_last-1.

    cursor[row] is where the next one of that row goes; each caller has a cursor of its own.
    """
    found = np.empty(pair.columns.subsets.size, np.uint32)
    images = np.empty(pair.symmetries.images.shape[0] + 1, np.uint64)
    for row in range(first, last):
        if may_hold(side, row, code):
            for k in range(find_code(side.words[row], code, lanes, found)):
                mirrored, n = _mirror_images(pair, row, U(pair.columns.subsets[found[k]]), images)
                if slab_first <= mirrored < slab_last:
                    free = pair.board.points & ~U(pair.rows.representatives[mirrored])
                    for i in range(n):
                        masks[cursor[mirrored]] = compress(images[i], free)
                        cursor[mirrored] += 1
