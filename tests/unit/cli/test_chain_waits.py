"""Messages about a chain that does not go on."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from sluice.cli.connection import connected
from sluice.cli.watch import wait_reasons
from sluice.cli.watch.wait_reasons import ChainWaits
from sluice.contracts.chains.chains import Chain, ChainStep
from sluice.contracts.common.states import ChainState, StepState

FULL = "waits for a storage of type intermediate: scratch is disabled"


def chain_with(*steps: ChainStep) -> Chain:
    return Chain(
        uid=uuid4(), state=ChainState.IN_PROGRESS, template_id=uuid4(), template="t",
        template_version=1, dataset_uid=uuid4(), dataset_name="d", params={},
        created_at=datetime(2026, 5, 4, tzinfo=UTC), steps=list(steps), datasets=[],
    )  # fmt: skip


async def test_reason_of_a_step_that_cannot_start_is_printed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wait_reasons, "LONG_WAIT", -1)
    told: list[tuple[str, str]] = []
    stuck = chain_with(
        ChainStep(name="cut", state=StepState.STARTING, reason=FULL),
        ChainStep(name="sum", state=StepState.FAILED, reason="1 of 1 job failed"),
    )
    async with connected("http://127.0.0.1:9") as nobody:
        waits = ChainWaits(nobody, lambda step, why: told.append((step, why)), for_nodes=True)
        waits.look_at_starts(chain_with(ChainStep(name="cut", state=StepState.STARTING)))
        assert told == []
        waits.look_at_starts(stuck)
        waits.look_at_starts(stuck)
    assert told == [("cut", FULL)]
