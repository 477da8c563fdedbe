"""Use cases: reruns of chains."""
