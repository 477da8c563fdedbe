"""Use cases that lease jobs to pilots."""
