"""The compiled loops of the solver: initialise, propagate, place. They read records of arrays and know no files.

Only ``solving`` calls them. Each loop works on a range of rows, so that threads need no locks.
"""
