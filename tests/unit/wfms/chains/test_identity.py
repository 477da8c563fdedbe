"""What there is one chain of."""

from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.chains import NewChain
from sluice.contracts.datasets import Dataset
from sluice.contracts.plan import Parameter
from sluice.contracts.states import DatasetState
from tests.unit.wfms.chains.plans import three_steps
from wfms.chains.domain.identity import ChainKey

BOUND = {"run": 7, "flag": True}
#: What it was before parameters counted: chains made then are found again.
AUTOMATIC = UUID("22302a7a-e703-5fac-95c5-7555cc64fe10")


def key(**params: Any) -> ChainKey:
    names = ("run", "flag", "cut", "what")
    plan = three_steps(
        parameters={name: Parameter(type="Any") for name in names},
        bind={"run": "run", "flag": "flag"},
    )
    dataset = Dataset.model_validate(
        {
            "uid": UUID(int=1),
            "name": "a",
            "type": "input",
            "state": DatasetState.CLOSED,
            "meta": {"flag": True},
            "run": 7,
            "count_files": 1,
            "bytes": 3,
            "timestamp": "2026-01-01T00:00:00Z",
        }
    )
    template = UUID(int=2)
    return ChainKey.of(
        NewChain(
            dataset=dataset,
            template_id=template,
            template="wf",
            template_version=1,
            plan=plan,
            params=params,
        )
    )


def test_values_from_the_metadata_are_not_given() -> None:
    assert key().uid == AUTOMATIC
    assert key(**BOUND) == key() == key(run=7)
    assert key().variant == ""


@pytest.mark.parametrize(
    "given",
    [{"run": 8}, {"flag": 1}, {"run": 7.0}, {"cut": None}, {"what": {"a": 1}}, {"what": {"a": 2}}],
)
def test_what_is_given_makes_another_chain(given: dict[str, Any]) -> None:
    made = key(**BOUND | given)
    assert made.uid != AUTOMATIC
    assert made == key(**given)
    assert made != key(**BOUND | given | {"cut": 1})


def test_the_order_of_keys_says_nothing() -> None:
    assert key(cut=1, what={"a": 1, "b": 2}) == key(what={"b": 2, "a": 1}, cut=1)
