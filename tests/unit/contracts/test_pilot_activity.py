"""The activity that people see for a pilot."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.warm_workers import LoadState, WarmWorkerState
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.pilot_list import Pilot, PilotActivity

NOW = datetime(2026, 5, 4, tzinfo=UTC)


def make_pilot(busy: int, *tools: LoadState, state: PilotState = PilotState.ACTIVE) -> Pilot:
    loaded = [WarmWorkerState(kind="k", step="text", since=NOW, state=tool) for tool in tools]
    return Pilot(
        uid=UUID(int=1),
        name="p",
        host="h",
        state=state,
        slots=2,
        resources=NodeResources(cores=2, ram=1000, disk=1000),
        registered_at=NOW,
        seen_at=NOW + timedelta(seconds=1),
        busy=busy,
        loaded=loaded,
    )


@pytest.mark.parametrize(
    ("shown", "activity"),
    [
        (make_pilot(1, LoadState.LOADING), PilotActivity.RECONFIGURING),
        (make_pilot(0, LoadState.LOADING), PilotActivity.RECONFIGURING),
        (make_pilot(1, LoadState.LOADING, LoadState.IDLE), PilotActivity.RECONFIGURING),
        (make_pilot(2, LoadState.LOADING, LoadState.WORKING), PilotActivity.WORKING),
        (make_pilot(1, LoadState.WORKING), PilotActivity.WORKING),
        (make_pilot(0, LoadState.IDLE), PilotActivity.IDLE),
        (make_pilot(1, LoadState.LOADING, state=PilotState.DRAINING), PilotActivity.DRAINING),
    ],
)
def test_activity_of_a_pilot_follows_from_its_jobs_and_warm_workers(
    shown: Pilot, activity: PilotActivity
) -> None:
    assert shown.activity is activity
