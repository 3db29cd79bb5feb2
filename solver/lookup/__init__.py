"""Answers from finished tables: probing, perfect moves, forward search, opening book, studies, judged games.

It reads tables and never solves.
"""
