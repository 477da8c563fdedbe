"""Rules of the chain service, without input or output."""
