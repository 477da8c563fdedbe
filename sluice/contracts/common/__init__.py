"""What all contracts share: base classes, bounds, names, problems, states."""
