"""The means of a node for the isolation of tools."""
