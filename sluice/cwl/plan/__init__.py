"""Assembly of the plan from a workflow that has passed all checks."""
