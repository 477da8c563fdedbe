"""Generators of the generated part of ``docs/``, which read the code."""
