"""An independent check of the final state, which imports nothing of the system.

It knows only the tables, the files and the rules.
"""
