"""A secret's value is itself on its way alone, and in no error."""

import pytest
from pydantic import SecretStr, ValidationError

from sluice.contracts.secrets import (
    MOST_SECRET,
    NewSecret,
    SecretRef,
    SecretValues,
    may_use,
)
from sluice.contracts.wording import names_value, sentence_of

VALUE = "hunter2-hunter2"


def test_a_value_is_masked_wherever_it_is_printed() -> None:
    values = SecretValues(values={"token": SecretStr(VALUE)})
    for shown in (repr(values), str(values), repr(values.model_dump())):
        assert VALUE not in shown
    assert VALUE in values.model_dump_json(), "on its way it is itself"
    assert SecretValues.model_validate_json(values.model_dump_json()) == values


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("", "is empty"),
        (f"{VALUE}\0", "has a NUL character"),
        (VALUE * MOST_SECRET, f"may have {MOST_SECRET} bytes"),
        (f"{VALUE}\ud800", "not valid UTF-8"),
    ],
)
def test_what_is_wrong_with_a_value_is_told_without_it(value: str, sentence: str) -> None:
    with pytest.raises(ValidationError) as refused:
        NewSecret(name="a", value=SecretStr(value))
    assert VALUE not in str(refused.value)
    [error] = refused.value.errors()
    assert sentence in sentence_of(error)
    assert VALUE not in sentence_of(error)
    assert names_value(error), "the command does not add it"


def test_the_largest_value_is_taken() -> None:
    assert NewSecret(name="a", value=SecretStr("ü" * (MOST_SECRET // 2)))


def test_other_errors_beside_a_value_do_not_show_it() -> None:
    with pytest.raises(ValidationError) as refused:
        NewSecret.model_validate_json(
            f'{{"name": "a", "value": ["{VALUE}"], "templates": [], "more": 1}}'
        )
    assert VALUE not in str(refused.value)
    assert not any(VALUE in sentence_of(error) for error in refused.value.errors())


def test_who_may_use_one() -> None:
    assert may_use("places-eu", ["other", "places*"])
    assert not may_use("Places", ["places*"]), "as all names, it has its case"
    assert not may_use("my-places", ["places*"])


def test_how_people_read_a_reference() -> None:
    assert str(SecretRef(name="places-api")) == "secret:places-api"
    assert str(SecretRef(name="places-api", version=3)) == "secret:places-api (version 3)"
