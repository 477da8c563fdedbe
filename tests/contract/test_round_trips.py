"""Values that cross a process boundary are unchanged, and all other values are refused."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import (
    Conflict,
    NotAvailable,
    NotFound,
    Problem,
    ServiceError,
    Unprocessable,
)
from sluice.contracts.messaging.messages import PAYLOADS, CloudEvent, extra_attributes
from sluice.contracts.messaging.queues import QUEUES
from tests.contract.models import list_contract_models, make_values
from tests.draws import count_examples

MODELS = list_contract_models()

#: These models follow a standard that allows unknown members.
OPEN = {CloudEvent, Problem}


def test_models_of_the_contracts_are_found() -> None:
    assert {*PAYLOADS.values(), CloudEvent, Problem} <= set(MODELS)
    assert len(MODELS) > 60


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@settings(max_examples=count_examples(10))
@given(data=st.data())
def test_models_round_trip_through_json(model: type[BaseModel], data: st.DataObject) -> None:
    value = data.draw(make_values(model))
    assert model.model_validate_json(value.model_dump_json()) == value
    assert model.model_validate(json.loads(json.dumps(value.model_dump(mode="json")))) == value


def test_unknown_fields_are_refused() -> None:
    """Otherwise a misspelt field would silently have its default."""
    accepted = {
        model
        for model in MODELS
        if ("extra_forbidden", ("no_such_field",)) not in _list_errors(model, {"no_such_field": 1})
    }
    assert accepted == OPEN
    assert [model.model_config["extra"] for model in (CloudEvent, Problem)] == ["allow"] * 2


def test_values_of_models_are_immutable() -> None:
    """Checked values stay valid."""
    for model in MODELS:
        for name in model.model_fields:
            with pytest.raises(ValidationError, match="frozen"):
                setattr(model.model_construct(), name, None)


def test_time_without_a_zone_is_refused() -> None:
    """Two nodes would read it differently."""
    times = [
        (model, name)
        for model in MODELS
        if issubclass(model, Contract)
        for name, field in model.model_fields.items()
        if "datetime" in str(field.annotation)
    ]
    assert times
    for model, name in times:
        errors = _list_errors(model, {name: "2024-01-01T00:00:00"})
        assert [loc for type_, loc in errors if type_.startswith("timezone")] == [(name,)], model


def _list_errors(
    model: type[BaseModel], value: dict[str, Any]
) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the type and place of each error in a value."""
    try:
        model.model_validate(value)
    except ValidationError as refused:
        return [(error["type"], error["loc"]) for error in refused.errors()]
    return []


def test_messages_of_every_queue_have_a_payload() -> None:
    assert {name for queue in QUEUES.values() for name in queue.types} == PAYLOADS.keys()


def test_ids_become_valid_cloudevents_attributes() -> None:
    """CloudEvents allows only lower-case letters and digits."""
    attributes = extra_attributes(chain_uid="c", task="t", dataset=None)
    assert attributes == {"chainuid": "c", "task": "t"}
    assert all(name.isalnum() and name.islower() for name in attributes)


@pytest.mark.parametrize(
    "error", [NotFound, Conflict, Unprocessable, NotAvailable], ids=lambda error: error.__name__
)
def test_service_errors_become_problems_with_their_fields(error: type[ServiceError]) -> None:
    problem: dict[str, Any] = json.loads(
        error("no such thing", uid=7, name="x").problem().model_dump_json()
    )
    assert problem["type"] == f"urn:sluice:problem:{error.slug}"
    assert problem["status"] == error.status >= 400
    assert problem["title"] == error.title
    assert problem["detail"] == "no such thing"
    assert problem["fields"] == {"uid": 7, "name": "x"}
