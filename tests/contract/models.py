"""All models of the contracts, and strategies that make values from their annotations."""

import importlib
import pkgutil
import types
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from functools import cache, partial
from math import inf
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, SecretStr, StringConstraints
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

import sluice.contracts
from sluice.contracts.common.base import Checksum, FileName, ImageName, Name, StorageUrl
from sluice.contracts.data.asset_refs import AssetPath
from sluice.contracts.jobs.checkpoints import Pattern


def get_pattern(kind: Any) -> str:
    return str(get_args(kind)[1].pattern)


URL_CHECK = get_args(StorageUrl)[1]
KEPT_CHECK = get_args(Pattern)[2]
CHECKPOINT_PATTERNS = st.sampled_from(["state/*", "model.pt"])
PATH_CHECK = get_args(AssetPath)[1]
#: Paths of files in folders.
PATHS = st.lists(st.text("aZ9é %.", min_size=3, max_size=5), min_size=1, max_size=2).map(
    lambda parts: "/".join(f"{part}x" for part in parts)
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=3,
)
URLS = st.builds(
    "{}://{}".format,
    st.sampled_from(["file", "s3", "https"]),
    st.lists(st.text("az09_-.", min_size=3, max_size=4), min_size=1).map("/".join),
)
#: Short examples of strings with a pattern, as ``from_regex`` makes long ones slowly.
BY_PATTERN = {
    get_pattern(Checksum): st.binary(min_size=32, max_size=32).map(
        lambda raw: f"sha256:{raw.hex()}"
    ),
    get_pattern(Name): st.text("aZ09_", min_size=1, max_size=3)
    | st.sampled_from(["run-1", "a b.c", "0@=,~+"]),
    get_pattern(ImageName): st.sampled_from(
        ["debian", "debian:12", "host:5000/path/name@sha256:0af", "a.b/c_d:x-1"]
    ),
    get_pattern(FileName): st.text("aZ9 ü-.", min_size=1, max_size=5).filter(
        lambda name: name not in {".", ".."}
    ),
}
TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the strategy wants them so


def list_contract_models() -> list[type[BaseModel]]:
    """Return every model defined in ``sluice.contracts``, in order of module and name."""
    models_by_name: dict[str, type[BaseModel]] = {}
    for module_info in pkgutil.walk_packages(sluice.contracts.__path__, "sluice.contracts."):
        module = importlib.import_module(module_info.name)
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, BaseModel)
                and value.__module__ == module.__name__
            ):
                models_by_name[f"{value.__module__}.{value.__name__}"] = value
    return [models_by_name[key] for key in sorted(models_by_name)]


@cache
def make_values(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Return values of the model with every field set."""
    return st.builds(
        model, **{name: _make_field_values(field) for name, field in model.model_fields.items()}
    )


def _make_field_values(field: FieldInfo) -> st.SearchStrategy[Any]:
    return _make_annotated_values(field.annotation, field.metadata)


def _make_annotated_values(annotation: Any, metadata: list[Any]) -> st.SearchStrategy[Any]:
    for check, drawn in ((URL_CHECK, URLS), (PATH_CHECK, PATHS), (KEPT_CHECK, CHECKPOINT_PATTERNS)):
        if any(
            entry is check or (isinstance(entry, AfterValidator) and entry == check)
            for entry in metadata
        ):
            return drawn
    bounds = _get_bounds(metadata)
    if annotation is str:
        return _make_texts(bounds)
    if annotation is int:
        return st.integers(bounds.get("ge", bounds.get("gt", -1) + 1), bounds.get("le", 2**31 - 1))
    if annotation is float:
        lowest = bounds.get("ge", bounds.get("gt", 0.0))
        return st.floats(
            lowest, bounds.get("le", 1e9), exclude_min="gt" in bounds, allow_subnormal=False
        )
    is_held = partial(_is_held, [entry for entry in metadata if type(entry) is AfterValidator])
    if get_origin(annotation) is list:
        items = _make_type_values(get_args(annotation)[0])
        values: st.SearchStrategy[Any] = st.lists(
            items, min_size=bounds.get("min_length", 0), max_size=2
        )
    else:
        values = _make_type_values(annotation)
    return values.filter(is_held)


def _is_held(checks: list[Any], value: Any) -> bool:
    """Return whether the validators of the whole list or model accept the value."""
    try:
        for check in checks:
            check.func(value)
    except PydanticCustomError:
        return False
    return True


def _make_texts(bounds: dict[str, Any]) -> st.SearchStrategy[str]:
    pattern = bounds.get("pattern")
    if pattern is not None:
        if pattern in BY_PATTERN:
            return BY_PATTERN[pattern]
        most = bounds.get("max_length", inf)
        return st.from_regex(pattern, fullmatch=True).filter(lambda text: len(text) <= most)
    return st.text(
        min_size=bounds.get("min_length", 0), max_size=min(12, bounds.get("max_length", 12))
    )


def _get_bounds(metadata: list[Any]) -> dict[str, Any]:
    """Return limits by name, wherever pydantic keeps them."""
    bounds: dict[str, Any] = {}
    for entry in metadata:
        parts = (
            _get_bounds(list(entry.metadata))
            if isinstance(entry, FieldInfo)
            else _list_limits(entry)
        )
        bounds |= {name: value for name, value in parts.items() if value is not None}
    return bounds


def _list_limits(entry: Any) -> dict[str, Any]:
    names = ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern")
    return {name: getattr(entry, name, None) for name in names}


def _make_type_values(annotation: Any) -> st.SearchStrategy[Any]:
    plain = {
        str: st.text(max_size=12),
        bytes: st.binary(max_size=12),
        bool: st.booleans(),
        UUID: st.uuids(),
        datetime: TIMES,
        SecretStr: st.text("aZ9 \nü", min_size=1, max_size=12).map(SecretStr),
    }
    plain |= {Any: JSON, object: JSON}
    if annotation in (int, float):
        return _make_annotated_values(annotation, [])
    if annotation in plain:
        return plain[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return make_values(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    return _make_generic_values(annotation)


def _make_generic_values(annotation: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _make_annotated_values(arguments[0], list(arguments[1:]))
    if origin in (Union, types.UnionType):
        return st.one_of(*map(_make_type_values, arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    parts = list(map(_make_type_values, arguments)) if origin in (list, tuple, dict) else []
    if origin is list:
        return st.lists(*parts, max_size=2)
    if origin in (tuple, dict):
        return st.tuples(*parts) if origin is tuple else st.dictionaries(*parts, max_size=2)
    if annotation is types.NoneType:
        return st.none()
    raise LookupError(f"there is no strategy for {annotation!r}")


def list_fields_of_kind(model: type[BaseModel], kind: Any) -> Iterator[str]:
    """Yield names of fields whose annotation has the same checks as ``kind`` (``FileName``, …)."""
    checks = list(get_args(kind)[1:])
    for name, field in model.model_fields.items():
        own = [
            *field.metadata,
            *(part for entry in get_args(field.annotation) for part in get_args(entry)[1:]),
        ]
        if any(
            check == mine
            for check in checks
            for mine in own
            if isinstance(check, StringConstraints | AfterValidator)
        ):
            yield name
