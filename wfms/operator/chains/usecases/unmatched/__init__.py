"""Use cases: unmatched data sets."""
