"""Use cases for tasks and steps."""
