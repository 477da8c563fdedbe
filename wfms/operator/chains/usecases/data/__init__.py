"""Use cases: data sets and their content."""
