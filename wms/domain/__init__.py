"""Domain logic of the WMS: pure functions without I/O."""
