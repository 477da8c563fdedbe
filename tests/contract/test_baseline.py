"""Contracts read what the baseline writes (ADR 5).

``baseline.json`` has the fields of each contract of the baseline, and whether they are required. At
a release, and until the first one after each change, it is written by
``python -m tests.contract.test_baseline``.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel

from sluice.contracts.common.base import Contract
from tests.contract.models import list_contract_models

PATH = Path(__file__).parent / "baseline.json"


def list_fields(model: type[BaseModel]) -> dict[str, bool]:
    """Return the fields by name, and whether they are required."""
    return {name: field.is_required() for name, field in model.model_fields.items()}


def list_fields_of_contracts() -> dict[str, dict[str, bool]]:
    """Return the fields of all contracts by name."""
    return {model.__name__: list_fields(model) for model in list_contract_models()}


def list_breaches(
    name: str, current_fields: Mapping[str, bool], baseline: Mapping[str, bool]
) -> list[str]:
    """Return how a contract breaks the promise that the release before can be upgraded."""
    return [
        *(f"{name}.{field} is gone" for field in baseline.keys() - current_fields.keys()),
        *(
            f"{name}.{field} has to be optional: the baseline may leave it out"
            for field, required in current_fields.items()
            if required and not baseline.get(field, False)
        ),
    ]


def test_contracts_only_gain_optional_fields() -> None:
    models, baseline = list_fields_of_contracts(), json.loads(PATH.read_text())
    assert baseline.keys() <= models.keys(), "a contract is gone"
    found_breaches = [
        list_breaches(name, models[name], baseline_fields)
        for name, baseline_fields in baseline.items()
    ]
    assert [breach for each in found_breaches for breach in each] == []


class Contact(Contract):
    name: str
    phone: str = ""


@pytest.mark.parametrize(
    ("baseline", "breach"),
    [
        ({"name": True, "phone": False, "fax": False}, "Contact.fax is gone"),
        ({"phone": False}, "Contact.name has to be optional: the baseline may leave it out"),
        ({"name": False, "phone": False}, "Contact.name has to be optional"),
    ],
)
def test_removed_or_newly_required_field_is_found(
    baseline: Mapping[str, bool], breach: str
) -> None:
    [found_breach] = list_breaches("Contact", list_fields(Contact), baseline)
    assert found_breach.startswith(breach)


def test_new_optional_field_is_allowed() -> None:
    assert list_breaches("Contact", list_fields(Contact), {"name": True}) == []


if __name__ == "__main__":
    contracts = list_fields_of_contracts()
    lines = [f"{json.dumps(name)}: {json.dumps(has)}" for name, has in contracts.items()]
    PATH.write_text("{\n" + ",\n".join(sorted(lines)) + "\n}\n")
