"""Boards as SVG and figures of results. Nothing here changes a position or a table.

Colours come from ``svg``, so that all pictures share one style.
"""
