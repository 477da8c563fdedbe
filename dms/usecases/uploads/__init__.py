"""Use cases for uploads to the output storage."""
