"""Steps that gather files into groups or batches."""

from typing import Any
from uuid import uuid4

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.templates.plan import MergeGroups
from tests.integration.wms.chain_of_steps import ChainOfSteps

GROUPING_FIELDS: dict[str, dict[str, Any]] = {
    "groups": {"mode": TaskMode.MERGE, "groups": MergeGroups(files=3)},
    "bytes": {"mode": TaskMode.MERGE, "groups": MergeGroups(bytes=3000)},
    "tree": {"mode": TaskMode.MERGE, "groups": MergeGroups(files=3, tree=True)},
    "batches": {"mode": TaskMode.MAP, "batch": 3},
}


def make_gathering_step(chain: ChainOfSteps, step: str, fields: str) -> None:
    """Make the step gather files instead of mapping them."""
    task, group = chain.steps[step], GROUPING_FIELDS[fields]
    mode = InputMode.ALL if group["mode"] is TaskMode.MERGE else InputMode.EACH
    read = task.main_input.model_copy(update={"mode": mode})
    parts = uuid4() if fields == "tree" else None
    chain.steps[step] = task.model_copy(update={**group, "inputs": [read], "parts_uid": parts})
