"""Gauges of the catalogue. They count current work, not the history."""

from sluice.contracts.common.states import DatasetState
from sluice.servicekit.gauges import Measurement, read_rows
from sluice.servicekit.statement import quote_states, statement

_UNDER_WAY = (DatasetState.OPEN, DatasetState.UPLOADING, DatasetState.DELETING)
_NAMES = quote_states(_UNDER_WAY)
_WORKING = statement("'{dataset.UPLOADING}', '{dataset.DELETING}'")


def _count(names: str, condition: str) -> str:
    """Return SQL that counts data sets by state, with 0 for a state without data sets."""
    values = ", ".join(f"({name.strip()})" for name in names.split(","))
    return f"""
    SELECT s.state, count(d.uid) FROM (VALUES {values}) AS s (state)
    LEFT JOIN datasets AS d ON d.state = s.state AND d.state IN ({names}) AND {condition}
    GROUP BY s.state
    """


_COUNT_UNDER_WAY = _count(_NAMES, "true")
_COUNT_HALTED = f"""
{_count(_WORKING, "d.halted_at IS NOT NULL")}
-- Data sets in other states can only have a sweep that halted.
UNION ALL SELECT state, count(*) FROM datasets
WHERE sweep_at IS NOT NULL AND halted_at IS NOT NULL AND state NOT IN ({_WORKING}) GROUP BY state
"""
_COUNT_FAILING = _count(_WORKING, "d.halted_at IS NULL AND d.failures > 0")
_SELECT_OLDEST_UPLOAD = statement("""
SELECT coalesce(extract(epoch FROM now() - min(upload_requested_at)), 0) FROM datasets
WHERE state = '{dataset.UPLOADING}'
""")

_COUNT_REMOVALS = "SELECT count(*) FROM removals"

MEASUREMENTS = (
    Measurement(
        "sluice_datasets",
        "Data sets that are open, uploading or being deleted.",
        read_rows(_COUNT_UNDER_WAY),
        ("state",),
    ),
    Measurement(
        "sluice_datasets_halted",
        "Data sets whose upload or deletion waits for an operator.",
        read_rows(_COUNT_HALTED),
        ("state",),
    ),
    Measurement(
        "sluice_datasets_failing",
        "Data sets whose upload or deletion failed and is retried.",
        read_rows(_COUNT_FAILING),
        ("state",),
    ),
    Measurement(
        "sluice_upload_oldest_seconds",
        "Time since the oldest current upload was requested, or 0.",
        read_rows(_SELECT_OLDEST_UPLOAD),
    ),
    Measurement(
        "sluice_files_released",
        "Released files whose replicas are still to be removed.",
        read_rows(_COUNT_REMOVALS),
    ),
)
