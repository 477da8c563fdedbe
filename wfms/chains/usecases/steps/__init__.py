"""Use cases: the steps of chains and their tasks."""
