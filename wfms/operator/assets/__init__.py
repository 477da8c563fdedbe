"""Assets: upload, versions and removal."""
