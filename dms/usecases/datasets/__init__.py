"""Use cases for data sets."""
