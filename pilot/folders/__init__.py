"""Folders of a pilot on its node: what lies in them, whose they are, how they are emptied."""
