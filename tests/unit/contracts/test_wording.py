"""Messages about invalid names, in words for people."""

from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from sluice.contracts.chains.attention import PersonName
from sluice.contracts.common.base import Checksum, FileName, ImageName, Name, StorageUrl
from sluice.contracts.common.wording import validation_sentence
from tests.contract.models import list_contract_models


def get_validation_message(kind: Any, text: object) -> str:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(text)
    [error] = refused.value.errors()
    return validation_sentence(error)


@pytest.mark.parametrize(
    ("kind", "text", "beginning"),
    [
        (Name, "week/1", "'week/1' has '/': a name has letters (A to Z, a to z), digits"),
        (Name, "-f", "'-f' begins with '-': a name"),
        (Name, "-", "'-' begins with '-': a name"),
        (Name, "", "it is empty: a name"),
        (Name, "a\n", r"'a\n' has '\n': a name"),
        (Name, "größe", "'größe' has 'ö': a name"),
        (Name, "a" * 201, f"'{'a' * 200}…' has 201 characters: a name"),
        (FileName, "a/b", "'a/b' has '/': a file's name has no slash"),
        (FileName, "a\tb", r"'a\tb' has '\t': a file's name"),
        (FileName, "..", "'..' is not a file's name: a file's name"),
        (FileName, "a" * 241, f"'{'a' * 200}…' has 241 characters: a file's name"),
        (
            ImageName,
            "-it",
            "'-it' begins with '-': an image's name is written like registry/path/name:tag",
        ),
        (ImageName, "a b", "'a b' has ' ': an image's name"),
        (ImageName, "a/.b", "'a/.b' is not an image's name: "),
        (
            Checksum,
            "md5:00",
            "'md5:00' is not a checksum: a checksum is sha256: and 64 hexadecimal digits",
        ),
        (StorageUrl, "/data", "'/data' is not an absolute URL such as file:///data/input"),
        (PersonName, " ", "' ' is not a person's name: a person's name is not blank"),
        (Name, 5, "a name has letters"),
    ],
)
def test_message_names_the_character_and_the_rule(kind: Any, text: object, beginning: str) -> None:
    assert get_validation_message(kind, text).startswith(beginning)


def test_no_contract_shows_a_regular_expression_in_errors() -> None:
    """The test covers all contracts, also future ones."""
    bare = [
        f"{model.__name__}.{name}"
        for model in list_contract_models()
        if issubclass(model, BaseModel)
        for name, error in _list_errors(model)
        if error == "string_pattern_mismatch"
    ]
    assert bare == ["Finding.severity"], "only services write this field"


def _list_errors(model: type[BaseModel]) -> list[tuple[str, str]]:
    """Return field and error type for values that match no pattern."""
    try:
        model.model_validate(dict.fromkeys(model.model_fields, "\x00/"))
    except ValidationError as refused:
        return [(str(error["loc"][0]), error["type"]) for error in refused.errors()]
    return []
