"""Decisions of a pilot, without input or output: events in, instructions out."""
