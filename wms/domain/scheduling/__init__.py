"""Decisions about which job goes to which pilot: capacity, matching, rank, limits, fair share."""
