"""The sub-commands of ``merels``, one module each: they read arguments, call the package, and print.

No logic that a program might want lives here.
"""
