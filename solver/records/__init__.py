"""Game records: the notation of the mill federation, PlayOK exports, and Sanmill.

It reads and writes text and checks every turn. It knows no tables.
"""
