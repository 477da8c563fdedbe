"""Names and URLs from outside cannot point to another place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from sluice.contracts.common.base import Checksum, FileName, Name, StorageUrl
from sluice.contracts.data.assets import JoinPieces, NewAsset, NewAssetFile
from sluice.contracts.data.datasets import NewFile, NewFiles
from tests.contract.models import list_contract_models, list_fields_of_kind

HEX = "0" * 64

#: Refused as names of data sets, storages, templates, pilots and files.
HOSTILE_NAMES = [
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
    "name",
    [*HOSTILE_NAMES, ".hidden", "-rf", "ä", "a;b", "a|b", "a$b", "a`b", "a*b", "a\\b", "a" * 201],
)
def test_name_that_is_not_a_single_path_component_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        check(Name, name)


@pytest.mark.parametrize(
    "name", ["run-1", "a", "_x", "frames 2024.01", "0f3c.decode.logs", "a" * 200]
)
def test_ordinary_name_is_accepted(name: str) -> None:
    assert check(Name, name) == name


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "a" * 241])
def test_file_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        check(FileName, name)


@pytest.mark.parametrize(
    "name", ["a.txt", ".hidden", "..a", "...", "-rf", "Übung 1.pdf", "a;b", "a" * 240]
)
def test_ordinary_file_name_is_accepted(name: str) -> None:
    assert check(FileName, name) == name


@pytest.mark.parametrize("name", ["ü" * 122 + ".csv", "€" * 81])
def test_new_file_names_have_at_most_240_bytes(name: str) -> None:
    file = NewFile(seq=0, name=name, size=1, checksum=f"sha256:{0:064}", url="file:///data/a")
    with pytest.raises(ValidationError, match=rf"\('{name}'\): the name .* 240 bytes in UTF-8"):
        NewFiles(files=[file])
    with pytest.raises(ValidationError, match="may have 240 bytes in UTF-8"):
        JoinPieces(seq=0, name=name, size=1)
    with pytest.raises(ValidationError, match="may have 240 bytes in UTF-8"):
        NewAsset(files=[NewAssetFile(path=name, size=1)])
    assert check(FileName, name) == name, "names in the catalogue are still read"


@given(st.text(min_size=1, max_size=20))
def test_accepted_file_name_is_a_single_path_component(text: str) -> None:
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
def test_url_that_is_relative_or_leads_upwards_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        check(StorageUrl, url)


def test_trailing_slash_of_a_url_is_removed() -> None:
    """Otherwise two spellings would be two folders."""
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
def test_checksum_of_another_form_is_refused(checksum: str) -> None:
    with pytest.raises(ValidationError):
        check(Checksum, checksum)


@pytest.mark.parametrize(
    ("kind", "trick"),
    [(FileName, "../a"), (StorageUrl, "file:///data/../a"), (Checksum, "sha256:0")],
)
def test_every_model_checks_its_names_urls_and_checksums(kind: Any, trick: str) -> None:
    models = [
        (model, name)
        for model in list_contract_models()
        for name in list_fields_of_kind(model, kind)
    ]
    assert models, "the fields were not found"
    for model, name in models:
        assert _refuses(model, name, trick), f"{model.__name__}.{name} takes {trick!r}"


def _refuses(model: type[BaseModel], name: str, value: str) -> bool:
    field = model.model_fields[name]
    given_value: object = [value] if str(field.annotation).startswith("list") else value
    try:
        model.model_validate({name: given_value})
    except ValidationError as error:
        return any(detail["loc"][0] == name for detail in error.errors())
    return False
