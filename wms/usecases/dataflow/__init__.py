"""Use cases that make jobs while upstream tasks still run."""
