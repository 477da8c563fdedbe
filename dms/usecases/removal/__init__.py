"""Use cases that delete files."""
