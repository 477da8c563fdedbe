"""Running a tool's program: its processes, its limits, its end."""
