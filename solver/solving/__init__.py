"""The whole job: each pair of the moving phase, each layer of the placing phase, in order and resumable.

Buffers, order and progress live here; the loops are in ``kernels``, the files in ``tables``.
"""
