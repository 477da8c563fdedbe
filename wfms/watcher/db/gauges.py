"""Gauges of the watcher, read from its tables."""

from sluice.contracts.common.states import WatchKind
from sluice.servicekit.gauges import Measurement, rows_of

FOLLOWED = " UNION ALL ".join(
    f"SELECT '{kind}', count(*) FROM watches WHERE NOT reported AND ended_at IS NULL AND kind ="
    f" '{kind}'"
    for kind in WatchKind
)
UNREPORTED = """
SELECT coalesce(extract(epoch FROM now() - min(ended_at)), 0) FROM watches
WHERE NOT reported AND ended_at IS NOT NULL
"""

MEASUREMENTS = (
    Measurement(
        "sluice_watches", "Tasks and uploads that are being followed.", rows_of(FOLLOWED), ("kind",)
    ),
    Measurement(
        "sluice_watch_unreported_seconds",
        "Longest time for which the chain service has not been told of an end; 0: it knows of all.",
        rows_of(UNREPORTED),
    ),
)
