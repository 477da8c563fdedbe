"""What the jobs of a task run, loaded once: a tool, a workflow, or what an invocation names."""
