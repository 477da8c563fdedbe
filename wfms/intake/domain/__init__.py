"""Rules of the intake, without input or output."""
