"""Use cases for limits, shares and room on storages."""
