"""Use cases: steps, tasks and logs."""
