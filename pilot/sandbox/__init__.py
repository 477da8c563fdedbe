"""Rooms that programs run in: each sees its own files, and reaches nothing else."""
