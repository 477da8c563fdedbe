"""Executables of tasks, loaded once: tools, workflows and invocations."""
