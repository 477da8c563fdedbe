"""Reports of attempts for the WMS, and files that no report names."""
