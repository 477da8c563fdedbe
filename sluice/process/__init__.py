"""The life of a process: its end by a signal, and its garbage collection."""
