"""Files of a job: ownership, stage-in and stage-out."""
