"""The programs of the pack templates/masstimes: from web sites of parishes to a table of the times
of their masses.
"""
