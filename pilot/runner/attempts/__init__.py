"""An attempt at a job: execution, verdict, report and logs."""
