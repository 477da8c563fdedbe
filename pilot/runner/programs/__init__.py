"""Programs of tools: their processes, limits and end."""
