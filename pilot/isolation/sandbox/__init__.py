"""Sandboxes of programs: each program sees its own files and reaches nothing else."""
