"""The commands: one module for each word that follows ``sluice``, and for each command too large to
stand beside the others of its word."""
