"""Proof of finished tables: each value against its successors, and placing positions by forward search.

It imports nothing of ``solving`` and ``kernels``, so that an error there cannot hide itself here.
"""
