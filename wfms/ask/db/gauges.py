"""Gauges of the service for human tasks, read from its tables."""

from sluice.servicekit.gauges import Measurement, read_rows

_COUNT_ITEMS_BY_STATE = """
SELECT state, count(*) FROM items WHERE ended_at IS NULL AND known_answer IS NULL GROUP BY state
"""
_COUNT_RECENT_ANSWERS = """
SELECT count(*) FROM assignments WHERE answered_at > now() - interval '1 minute'
"""
_SELECT_UNDELIVERED_SECONDS = """
SELECT coalesce(extract(epoch FROM now() - min(decided_at)), 0) FROM items
WHERE decided_at IS NOT NULL AND ended_at IS NULL
"""

MEASUREMENTS = (
    Measurement(
        "sluice_ask_items",
        "Items of human tasks, by state.",
        read_rows(_COUNT_ITEMS_BY_STATE),
        ("state",),
    ),
    Measurement(
        "sluice_ask_answers", "Annotations of the last minute.", read_rows(_COUNT_RECENT_ANSWERS)
    ),
    Measurement(
        "sluice_ask_undelivered_seconds",
        "Age of the oldest decision that has not reached the WMS, or 0.",
        read_rows(_SELECT_UNDELIVERED_SECONDS),
    ),
)
