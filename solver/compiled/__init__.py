"""What compiled code rests on: the numba settings, bit tricks, and threads that share rows.

It knows nothing of games. New modules belong here only if any package may use them.
"""
