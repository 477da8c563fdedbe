"""Values of a workflow's inputs: job orders, and parameters on the command line."""
