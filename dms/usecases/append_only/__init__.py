"""Use cases for append-only data sets."""
