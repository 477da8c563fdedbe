"""The pilot: the process on a node that asks for jobs and runs them."""
