"""Gauges of the chain service: steps and chains under way, found by partial indexes."""

from sluice.contracts.common.states import ChainState, StepState
from sluice.servicekit.gauges import Measurement, rows_of
from wfms.chains.db.datasets import NEEDED_BY_NONE

_UNDER_WAY = (StepState.STARTING, StepState.IN_PROGRESS)

STEPS = " UNION ALL ".join(
    f"SELECT '{state}', count(*) FROM steps WHERE state = '{state}'" for state in _UNDER_WAY
)
TRIES = f"SELECT coalesce(max(attempts), 0) FROM steps WHERE state = '{StepState.STARTING}'"
UPLOADING = f"SELECT count(*) FROM chains WHERE state = '{ChainState.UPLOADING}'"
STOPPING = f"""
SELECT count(*) FROM chains WHERE ending IS NOT NULL AND state = '{ChainState.IN_PROGRESS}'
"""
TO_RELEASE = f"""
SELECT coalesce(extract(epoch FROM now() - min(released_at)), 0) FROM datasets
WHERE released_at IS NOT NULL AND handed_over_at IS NULL
    AND {NEEDED_BY_NONE.format(uid="datasets.uid")}
"""

MEASUREMENTS = (
    Measurement(
        "sluice_steps",
        "Steps that are being started, and whose task runs.",
        rows_of(STEPS),
        ("state",),
    ),
    Measurement(
        "sluice_step_start_tries",
        "Tries so far of the step that has been tried most to start; 0: none.",
        rows_of(TRIES),
    ),
    Measurement(
        "sluice_chains_uploading",
        "Chains whose output is on its way to the output storage.",
        rows_of(UPLOADING),
    ),
    Measurement(
        "sluice_chains_stopping",
        "Chains that failed or were canceled and whose tasks still run.",
        rows_of(STOPPING),
    ),
    Measurement(
        "sluice_release_oldest_seconds",
        "Time for which the watcher has not been told of a data set that is no longer needed; 0:"
        " none.",
        rows_of(TO_RELEASE),
    ),
)
