"""Names and URLs from outside cannot leave the place that they are for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from sluice.contracts.assets import JoinPieces, NewAsset, NewAssetFile
from sluice.contracts.base import Checksum, FileName, Name, StorageUrl
from sluice.contracts.datasets import NewFile, NewFiles
from tests.contract.models import contract_models, fields_of

HEX = "0" * 64

#: Never a name: of a data set, a storage, a template, a pilot, a file.
TRICKS = [
    "",
    ".",
    "..",
    "/",
    "a/b",
    "../a",
    "a/..",
    "/etc/passwd",
    "a\x00b",
    "a\nb",
    "a\n",
    "\x1b[31m",
    "a\rb",
]


def check(kind: Any, value: str) -> str:
    return str(TypeAdapter(kind).validate_python(value))


@pytest.mark.parametrize(
    "name", [*TRICKS, ".hidden", "-rf", "ä", "a;b", "a|b", "a$b", "a`b", "a*b", "a\\b", "a" * 201]
)
def test_names_that_are_no_single_path_component_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        check(Name, name)


@pytest.mark.parametrize(
    "name", ["run-1", "a", "_x", "frames 2024.01", "0f3c.decode.logs", "a" * 200]
)
def test_ordinary_names_are_taken(name: str) -> None:
    assert check(Name, name) == name


@pytest.mark.parametrize("name", [*TRICKS, "a" * 241])
def test_file_names_that_lead_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        check(FileName, name)


@pytest.mark.parametrize(
    "name", ["a.txt", ".hidden", "..a", "...", "-rf", "Übung 1.pdf", "a;b", "a" * 240]
)
def test_file_names_as_people_give_them_are_taken(name: str) -> None:
    assert check(FileName, name) == name


@pytest.mark.parametrize("name", ["ü" * 122 + ".csv", "€" * 81])
def test_new_files_have_names_of_240_bytes_whoever_brings_them(name: str) -> None:
    file = NewFile(seq=0, name=name, size=1, checksum=f"sha256:{0:064}", url="file:///data/a")
    with pytest.raises(ValidationError, match=rf"\('{name}'\): the name .* 240 bytes in UTF-8"):
        NewFiles(files=[file])
    with pytest.raises(ValidationError, match="may have 240 bytes in UTF-8"):
        JoinPieces(seq=0, name=name, size=1)
    with pytest.raises(ValidationError, match="may have 240 bytes in UTF-8"):
        NewAsset(files=[NewAssetFile(path=name, size=1)])
    assert check(FileName, name) == name, "what is in the catalogue is read"


@given(st.text(min_size=1, max_size=20))
def test_no_text_makes_a_file_name_of_two_path_components(text: str) -> None:
    try:
        name = check(FileName, text)
    except ValidationError:
        return
    assert "/" not in name
    assert "\x00" not in name
    assert name not in {".", ".."}


@pytest.mark.parametrize(
    "url",
    [
        "", "data", "/data", "./data", "file:/data", "://data", "file://", "fi le:///data",
        "file:///data/../etc", "file:///..",
        "s3://bucket/../other", "file:///data/..",
    ],
)  # fmt: skip
def test_urls_that_are_not_absolute_or_climb_are_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        check(StorageUrl, url)


def test_urls_end_without_a_slash() -> None:
    """Two spellings of one folder would be two folders."""
    assert check(StorageUrl, "file:///data/") == "file:///data"


@pytest.mark.parametrize(
    "checksum",
    [
        "",
        HEX,
        f"md5:{HEX}",
        f"sha256:{HEX[1:]}",
        f"sha256:{HEX}0",
        f"sha256:{'A' * 64}",
        f" sha256:{HEX}",
        f"sha256:{HEX}\n",
    ],
)
def test_checksums_of_another_form_are_refused(checksum: str) -> None:
    with pytest.raises(ValidationError):
        check(Checksum, checksum)


@pytest.mark.parametrize(
    ("kind", "trick"),
    [(FileName, "../a"), (StorageUrl, "file:///data/../a"), (Checksum, "sha256:0")],
)
def test_every_model_that_holds_one_checks_it(kind: Any, trick: str) -> None:
    models = [(model, name) for model in contract_models() for name in fields_of(model, kind)]
    assert models, "the fields were not found"
    for model, name in models:
        assert _refuses(model, name, trick), f"{model.__name__}.{name} takes {trick!r}"


def _refuses(model: type[BaseModel], name: str, value: str) -> bool:
    field = model.model_fields[name]
    given_value: object = [value] if str(field.annotation).startswith("list") else value
    try:
        model.model_validate({name: given_value})
    except ValidationError as error:
        return any(found["loc"][0] == name for found in error.errors())
    return False
