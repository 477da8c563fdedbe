"""The plan put together out of a workflow that has passed all checks."""
