"""Use cases for times of jobs."""
