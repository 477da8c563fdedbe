"""Files into the system and out of it: what a command names becomes a data set, results become
files in a folder."""
