"""Use cases that split tasks into jobs."""
