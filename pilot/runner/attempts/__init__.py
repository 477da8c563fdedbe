"""An attempt at a job: its life, what becomes of it, its report and its logs."""
