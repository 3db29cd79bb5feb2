"""The rules by themselves: boards, switches and presets, legal moves, positions, and their text.

It knows no index, no table and no value. Everything here is plain and readable, since the proof relies on it.
"""
