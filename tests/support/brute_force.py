"""Symmetry by brute force: images of masks point by point, classes as smallest images."""

import numpy as np
import numpy.typing as npt

from solver.game.boards import Board


def image(board: Board, g: int, mask: int) -> int:
    """The image of ``mask`` under symmetry ``g``."""
    return sum(1 << board.symmetries[g][p] for p in range(board.n_points) if mask >> p & 1)


def images(board: Board, masks: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    """The images of ``masks`` under all symmetries, shape (symmetries, masks)."""
    masks = np.asarray(masks, np.uint32)
    found = np.zeros((len(board.symmetries), len(masks)), np.uint32)
    for symmetry, out in zip(board.symmetries, found, strict=True):
        for p, target in enumerate(symmetry):
            out |= (masks >> np.uint32(p) & np.uint32(1)) << np.uint32(target)
    return found


def smallest_images(board: Board, ours: npt.ArrayLike, theirs: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """One number for each class of positions: the smallest image, own stones first."""
    return (images(board, ours).astype(np.uint64) << np.uint64(32) | images(board, theirs)).min(axis=0)


def arrangements(board: Board, a: int, b: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """All ways to put a stones of one side and b of the other on a small board."""
    masks = np.arange(1 << board.n_points, dtype=np.uint32)
    sizes = np.bitwise_count(masks)
    ours, theirs = np.meshgrid(masks[sizes == a], masks[sizes == b], indexing="ij")
    disjoint = ours & theirs == 0
    return ours[disjoint], theirs[disjoint]
