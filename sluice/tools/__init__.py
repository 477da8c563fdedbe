"""Rules about tools that the template compiler, the CWL runner and pilots share."""
