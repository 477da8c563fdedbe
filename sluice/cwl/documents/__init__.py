"""The files of a template as one document, and its workflow: steps, ports, links and types."""
