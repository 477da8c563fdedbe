"""Transfer of files: local files become a data set, and results become local files."""
