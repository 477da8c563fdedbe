"""The files of a job: which are its own, what is staged in, what is staged out."""
