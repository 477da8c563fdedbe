"""What a node offers for the isolation of tools."""
