"""Use cases of the DMS, one file each."""
