"""Use cases of the WMS."""
