"""Data sets for which the intake has not started a chain."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from sluice.contracts.chains.intake import Unmatched
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.templates import NewTemplate
from tests.integration.operator.conftest import Operator
from tests.unit.cwl.samples import LINEAR, edit_text

#: Takes calibration data and reads a parameter from the metadata.
OTHER = edit_text(
    (
        "sluice:match: {sluice:type: raw, detector: spd}",
        "sluice:match: {sluice:type: calibration}\nsluice:bind: {limit: lines}",
    ),
    ("    type: int\n    default: 5", "    type: int"),
)

NOW = datetime.now(UTC)


async def store_unmatched_datasets(operator: Operator) -> dict[str, UUID]:
    """Store two templates and data sets without a chain, and return the data sets by name.

    ``linear`` would take ``fits`` now, ``lacks`` has no value for a parameter of ``other``, and
    ``odd`` fits no template.
    """
    await operator.client.store_template(NewTemplate(name="linear", cwl=LINEAR))
    await operator.client.store_template(NewTemplate(name="other", cwl=OTHER))
    metas = {
        "fits": {"type": "raw", "detector": "spd"},
        "lacks": {"type": "calibration"},
        "odd": {"type": "<odd>"},
    }
    uids = {}
    for name, meta in metas.items():
        dataset = make_closed_dataset(name, meta)
        operator.neighbours.datasets[dataset.uid] = dataset
        operator.neighbours.unmatched[dataset.uid] = Unmatched(
            dataset_uid=dataset.uid,
            dataset_name=name,
            reason="there were no templates",
            since=NOW,
            dataset=dataset,
        )
        uids[name] = dataset.uid
    operator.neighbours.rematches[uids["fits"]] = "linear"
    return uids


def make_closed_dataset(name: str, meta: dict[str, str]) -> Dataset:
    return Dataset(
        uid=uuid4(),
        name=name,
        type=DatasetType.INPUT,
        state=DatasetState.CLOSED,
        meta=meta,
        count_files=1,
        bytes=1200,
        timestamp=NOW,
    )
