"""Text and files, from a disk or an upload, read into nodes that know their place; and what is
found wrong there."""
