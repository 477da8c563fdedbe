"""Gauges of the watcher, read from its tables."""

from sluice.contracts.common.states import WatchKind
from sluice.servicekit.gauges import Measurement, read_rows

_COUNT_FOLLOWED = " UNION ALL ".join(
    f"SELECT '{kind}', count(*) FROM watches WHERE NOT reported AND ended_at IS NULL AND kind ="
    f" '{kind}'"
    for kind in WatchKind
)
_SELECT_OLDEST_UNREPORTED = """
SELECT coalesce(extract(epoch FROM now() - min(ended_at)), 0) FROM watches
WHERE NOT reported AND ended_at IS NOT NULL
"""

MEASUREMENTS = (
    Measurement(
        "sluice_watches",
        "Tasks and uploads that the watcher follows.",
        read_rows(_COUNT_FOLLOWED),
        ("kind",),
    ),
    Measurement(
        "sluice_watch_unreported_seconds",
        "Age of the oldest end that has not been reported to the chain service, or 0.",
        read_rows(_SELECT_OLDEST_UNREPORTED),
    ),
)
