"""An independent look at what a run has left: imports nothing of the system, knows the tables, the
files and the rules alone."""
