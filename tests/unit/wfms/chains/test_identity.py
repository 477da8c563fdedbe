"""Identity of chains: equal requests give the same chain."""

from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.chains.chains import NewChain
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.plan import Parameter
from tests.unit.wfms.chains.plans import make_three_steps
from wfms.chains.domain.identity import ChainKey

BOUND = {"run": 7, "flag": True}
#: The identifier before parameters counted: existing chains must be found again.
AUTOMATIC = UUID("22302a7a-e703-5fac-95c5-7555cc64fe10")


def make_key(**params: Any) -> ChainKey:
    names = ("run", "flag", "cut", "what")
    plan = make_three_steps(
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


def test_values_equal_to_the_metadata_do_not_change_the_chain() -> None:
    assert make_key().uid == AUTOMATIC
    assert make_key(**BOUND) == make_key() == make_key(run=7)
    assert make_key().variant == ""


@pytest.mark.parametrize(
    "parameters",
    [{"run": 8}, {"flag": 1}, {"run": 7.0}, {"cut": None}, {"what": {"a": 1}}, {"what": {"a": 2}}],
)
def test_given_parameters_identify_another_chain(parameters: dict[str, Any]) -> None:
    chain_key = make_key(**BOUND | parameters)
    assert chain_key.uid != AUTOMATIC
    assert chain_key == make_key(**parameters)
    assert chain_key != make_key(**BOUND | parameters | {"cut": 1})


def test_order_of_parameters_does_not_change_the_chain() -> None:
    assert make_key(cut=1, what={"a": 1, "b": 2}) == make_key(what={"b": 2, "a": 1}, cut=1)
