"""Candidates as items that people are asked about, and what they answered."""
