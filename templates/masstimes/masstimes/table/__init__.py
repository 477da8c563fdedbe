"""What the rules and the classifier found, in one table."""
