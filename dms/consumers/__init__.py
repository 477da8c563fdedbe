"""What the DMS does with messages."""
