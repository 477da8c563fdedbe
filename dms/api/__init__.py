"""The REST interface of the DMS."""
