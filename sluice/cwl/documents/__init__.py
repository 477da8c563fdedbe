"""The files of a template put together into one document, and the workflow as it is written there:
its steps, ports, links and types."""
