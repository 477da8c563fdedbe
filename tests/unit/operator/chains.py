"""Chains and the status of their tasks."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from sluice.contracts.chains.chains import Chain, ChainStep
from sluice.contracts.common.states import ChainState, ErrorClass, TaskMode, TaskState
from sluice.contracts.jobs.tasks import TaskStatus

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def make_status(uid: UUID | None = None, /, **counts: int) -> TaskStatus:
    numbers = {
        name: 0
        for name in ("ready", "leased", "running", "finished", "failed", "canceled", "quarantined")
    } | counts
    return TaskStatus(
        uid=uid or uuid4(),
        chain_uid=uuid4(),
        step="decode",
        template="t",
        state=TaskState.ACTIVE,
        mode=TaskMode.MAP,
        rank=1,
        total=sum(numbers.values()),
        created_at=NOW,
        errors={ErrorClass.TOOL_REFUSED: 1} if counts.get("failed") else {},
        **numbers,
    )


def make_chain(state: ChainState, *steps: ChainStep, reason: str = "") -> Chain:
    return Chain(
        uid=uuid4(),
        state=state,
        template_id=uuid4(),
        template="t",
        template_version=1,
        dataset_uid=uuid4(),
        dataset_name="d",
        params={},
        created_at=NOW,
        ended_at=NOW if state.final else None,
        reason=reason,
        steps=list(steps),
        datasets=[],
    )
