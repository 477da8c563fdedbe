"""Reports of attempts on their way to the WMS, and the files that nobody reports."""
