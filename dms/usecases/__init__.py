"""What the DMS does, one file each."""
