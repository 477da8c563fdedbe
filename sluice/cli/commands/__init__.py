"""The commands.

There is a module for each word that follows ``sluice``, and for each command that is too large
for the module of its word. The folders have the names of the subjects in ``sluice.contracts``,
and ``system`` has the commands about an installation.
"""
