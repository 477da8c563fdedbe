"""Gauges of the chain service: steps and chains under way, found by partial indexes."""

from sluice.contracts.common.states import StepState
from sluice.servicekit.gauges import Measurement, read_rows
from sluice.servicekit.statement import statement
from wfms.chains.db.datasets import NEEDED_BY_NONE

_UNDER_WAY = (StepState.STARTING, StepState.IN_PROGRESS)

_COUNT_STEPS = " UNION ALL ".join(
    f"SELECT '{state}', count(*) FROM steps WHERE state = '{state}'" for state in _UNDER_WAY
)
_SELECT_MAX_TRIES = statement(
    "SELECT coalesce(max(attempts), 0) FROM steps WHERE state = '{step.STARTING}'"
)
_COUNT_UPLOADING = statement("SELECT count(*) FROM chains WHERE state = '{chain.UPLOADING}'")
_COUNT_STOPPING = statement("""
SELECT count(*) FROM chains WHERE ending IS NOT NULL AND state = '{chain.IN_PROGRESS}'
""")
_SELECT_OLDEST_RELEASE = f"""
SELECT coalesce(extract(epoch FROM now() - min(released_at)), 0) FROM datasets
WHERE released_at IS NOT NULL AND handed_over_at IS NULL
    AND {NEEDED_BY_NONE.format(uid="datasets.uid")}
"""

MEASUREMENTS = (
    Measurement(
        "sluice_steps",
        "Steps that are starting or in progress.",
        read_rows(_COUNT_STEPS),
        ("state",),
    ),
    Measurement(
        "sluice_step_start_tries",
        "The maximum number of attempts to start a step that is starting, or 0.",
        read_rows(_SELECT_MAX_TRIES),
    ),
    Measurement(
        "sluice_chains_uploading",
        "Chains whose outputs are being uploaded.",
        read_rows(_COUNT_UPLOADING),
    ),
    Measurement(
        "sluice_chains_stopping",
        "Chains that failed or were canceled and whose tasks still run.",
        read_rows(_COUNT_STOPPING),
    ),
    Measurement(
        "sluice_release_oldest_seconds",
        "Age of the oldest release that has not reached the watcher, or 0.",
        read_rows(_SELECT_OLDEST_RELEASE),
    ),
)
