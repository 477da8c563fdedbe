"""Use cases: the data sets of chains."""
