"""Databases on disk: directories, file names, the format of a table, its checks, its counts.

It knows no rules of play and no solver; ``data/FORMAT.md`` describes the files for strangers.
"""
