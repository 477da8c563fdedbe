"""Placement policies: which warm workers a pilot should load."""
