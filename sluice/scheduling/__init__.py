"""Rules of scheduling that several processes share."""
