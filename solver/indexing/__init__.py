"""Where a position is stored: subspaces, rows and columns of their index, and the code of a value.

It knows neither files nor how values are found.
"""
