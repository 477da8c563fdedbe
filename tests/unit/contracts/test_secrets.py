"""Values of secrets appear only in requests, and in no error."""

import pytest
from pydantic import SecretStr, ValidationError

from sluice.contracts.access.secrets import (
    MAX_SECRET,
    NewSecret,
    SecretRef,
    SecretValues,
    may_use,
)
from sluice.contracts.common.wording import names_value, validation_sentence

VALUE = "hunter2-hunter2"


def test_secret_value_is_masked_wherever_it_is_printed() -> None:
    values = SecretValues(values={"token": SecretStr(VALUE)})
    for shown in (repr(values), str(values), repr(values.model_dump())):
        assert VALUE not in shown
    assert VALUE in values.model_dump_json(), "the request must contain the value"
    assert SecretValues.model_validate_json(values.model_dump_json()) == values


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("", "is empty"),
        (f"{VALUE}\0", "has a NUL character"),
        (VALUE * MAX_SECRET, f"may have {MAX_SECRET} bytes"),
        (f"{VALUE}\ud800", "not valid UTF-8"),
    ],
)
def test_error_about_a_secret_does_not_contain_the_value(value: str, sentence: str) -> None:
    with pytest.raises(ValidationError) as refused:
        NewSecret(name="a", value=SecretStr(value))
    assert VALUE not in str(refused.value)
    [error] = refused.value.errors()
    assert sentence in validation_sentence(error)
    assert VALUE not in validation_sentence(error)
    assert names_value(error), "otherwise the command would add the value to the error"


def test_largest_secret_is_accepted() -> None:
    assert NewSecret(name="a", value=SecretStr("ü" * (MAX_SECRET // 2)))


def test_errors_of_other_fields_do_not_show_the_secret() -> None:
    with pytest.raises(ValidationError) as refused:
        NewSecret.model_validate_json(
            f'{{"name": "a", "value": ["{VALUE}"], "templates": [], "more": 1}}'
        )
    assert VALUE not in str(refused.value)
    assert not any(VALUE in validation_sentence(error) for error in refused.value.errors())


def test_templates_allowed_to_use_a_secret_are_matched_by_pattern() -> None:
    assert may_use("places-eu", ["other", "places*"])
    assert not may_use("Places", ["places*"]), "names are case-sensitive"
    assert not may_use("my-places", ["places*"])


def test_secret_reference_is_readable() -> None:
    assert str(SecretRef(name="places-api")) == "secret:places-api"
    assert str(SecretRef(name="places-api", version=3)) == "secret:places-api (version 3)"
