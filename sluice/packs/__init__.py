"""Helpers for packs: distributions with a workflow and its programs, such as those in templates/.

A pack depends on ``sluice``. Its programs use ``sluice.packs.programs``.
"""
