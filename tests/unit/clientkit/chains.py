"""Chains for messages of the command."""

from datetime import UTC, datetime
from uuid import uuid4

from sluice.contracts.chains.chains import Chain, ChainStep
from sluice.contracts.common.states import ChainState


def make_chain_with_steps(*steps: ChainStep) -> Chain:
    return Chain(
        uid=uuid4(), state=ChainState.IN_PROGRESS, template_id=uuid4(), template="t",
        template_version=1, dataset_uid=uuid4(), dataset_name="d", params={},
        created_at=datetime(2026, 5, 4, tzinfo=UTC), steps=list(steps), datasets=[],
    )  # fmt: skip
