"""Use cases: usage and quotas."""
