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
from sluice.contracts.messages import PAYLOADS, QUEUES, CloudEvent, extra_attributes
from tests.contract.models import contract_models, values_of
from tests.draws import examples

MODELS = contract_models()
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)

#: These models follow a standard that allows unknown members.
OPEN = {CloudEvent, Problem}


def test_models_of_the_contracts_are_found() -> None:
    assert {*PAYLOADS.values(), CloudEvent, Problem} <= set(MODELS)
    assert len(MODELS) > 60


@each_model
@settings(max_examples=examples(10))
@given(data=st.data())
def test_models_round_trip_through_json(model: type[BaseModel], data: st.DataObject) -> None:
    value = data.draw(values_of(model))
    assert model.model_validate_json(value.model_dump_json()) == value
    assert model.model_validate(json.loads(json.dumps(value.model_dump(mode="json")))) == value


@each_model
def test_unknown_fields_are_refused(model: type[BaseModel]) -> None:
    """Otherwise a misspelt field would silently have its default."""
    if model in OPEN:
        assert model.model_config["extra"] == "allow"
        return
    with pytest.raises(ValidationError) as refused:
        model.model_validate({"no_such_field": 1})
    assert ("extra_forbidden", ("no_such_field",)) in [
        (error["type"], error["loc"]) for error in refused.value.errors()
    ]


@each_model
def test_values_of_models_are_immutable(model: type[BaseModel]) -> None:
    """Checked values stay valid."""
    for name in model.model_fields:
        with pytest.raises(ValidationError):
            setattr(model.model_construct(), name, None)


@pytest.mark.parametrize(
    "model",
    [model for model in MODELS if issubclass(model, Contract)],
    ids=lambda model: model.__name__,
)
def test_time_without_a_zone_is_refused(model: type[BaseModel]) -> None:
    """Two nodes would read it differently."""
    for name, field in model.model_fields.items():
        if "datetime" in str(field.annotation):
            with pytest.raises(ValidationError) as refused:
                model.model_validate({name: "2024-01-01T00:00:00"})
            assert (name,) in [
                error["loc"]
                for error in refused.value.errors()
                if error["type"].startswith("timezone")
            ]


def test_messages_of_every_queue_have_a_payload() -> None:
    assert {name for types in QUEUES.values() for name in types} == PAYLOADS.keys()


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
