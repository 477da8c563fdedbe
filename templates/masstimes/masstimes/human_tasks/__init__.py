"""Candidates as items of a human task, and the annotations."""
