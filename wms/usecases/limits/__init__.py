"""Use cases for limits, shares and space on storages."""
