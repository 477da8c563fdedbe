"""The results of the rules and the classifier in one table."""
