"""Games against the tables: opponents, the game in a terminal, and the interactive board of notebooks.

Front ends belong here; what they show is found by ``lookup``.
"""
