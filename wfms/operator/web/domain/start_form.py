"""The form to start a chain: a field for each parameter, and the values of the typed texts."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, assert_never
from uuid import UUID

from sluice.contracts.common.bounds import describe_number, find_non_finite
from sluice.contracts.common.problems import Finding
from sluice.contracts.data.asset_refs import AssetRef, is_asset
from sluice.contracts.templates.plan import DIRECTORIES, FILES, Parameter, Plan
from sluice.text.visible_text import quoted
from wfms.operator.templates.domain.parameters import type_name


class FieldKind(StrEnum):
    """The kind of input for a value."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    CHOICE = "choice"
    FILE = "file"
    FILES = "files"
    JSON = "json"


_KINDS = {
    "int": FieldKind.INTEGER, "long": FieldKind.INTEGER,
    "float": FieldKind.NUMBER, "double": FieldKind.NUMBER,
    "string": FieldKind.TEXT,
    "boolean": FieldKind.TRUTH,
    "File": FieldKind.FILE, "Directory": FieldKind.FILE,
}  # fmt: skip


class NotReadable(ValueError):
    """A typed text that is no value of the expected kind; the message names what is expected."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form.

    Attributes:
        otherwise: The value if nothing is typed, in words.
        typed: The text that was sent.
        problem: The fault of the text.
    """

    name: str
    kind: FieldKind
    type: str
    doc: str
    required: bool
    otherwise: str
    choices: Sequence[str] = ()
    typed: str = ""
    problem: str = ""


def list_fields(
    plan: Plan,
    metadata_values: Mapping[str, Any],
    *,
    typed: Mapping[str, str] | None = None,
    findings: Sequence[Finding] = (),
) -> list[Field]:
    """Return a field for each parameter of the plan.

    Args:
        plan: The plan of the template.
        metadata_values: Values from the metadata of the data set.
        typed: The texts that were sent, by parameter.
        findings: The errors of the request, which name their parameters.
    """
    return [
        _asset_field(
            _build_field(
                name,
                parameter,
                metadata_values=metadata_values,
                typed=typed or {},
                findings=findings,
            ),
            plan.assets.get(name),
        )
        for name, parameter in plan.parameters.items()
    ]


def _asset_field(field: Field, ref: AssetRef | None) -> Field:
    """Let the user name another asset in the field of a parameter that an asset provides."""
    if ref is None:
        return field
    return replace(field, kind=FieldKind.TEXT, required=False, otherwise=str(ref))


def _build_field(
    name: str,
    parameter: Parameter,
    *,
    metadata_values: Mapping[str, Any],
    typed: Mapping[str, str],
    findings: Sequence[Finding],
) -> Field:
    messages = [
        finding.message
        for finding in findings
        if finding.message.startswith(f"parameter {quoted(name)} ")
    ]
    return Field(
        name=name,
        kind=choose_field_kind(parameter),
        type=type_name(parameter.type),
        doc=parameter.doc,
        required=parameter.required and parameter.default is None and name not in metadata_values,
        otherwise=_describe_default(name, parameter, metadata_values),
        choices=_list_choices(parameter),
        typed=typed.get(name, ""),
        problem="; ".join(
            message.removeprefix(f"parameter {quoted(name)} ") for message in messages
        ),
    )


def _describe_default(name: str, parameter: Parameter, metadata_values: Mapping[str, Any]) -> str:
    if name in metadata_values:
        return f"{value_text(metadata_values[name])}, from the data set"
    return "" if parameter.default is None else value_text(parameter.default)


def value_text(value: Any) -> str:
    """Return a value as text: strings unchanged, other values as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def choose_field_kind(parameter: Parameter) -> FieldKind:
    """Return the kind of input for a parameter."""
    if parameter.is_bundle:
        return FieldKind.JSON
    if parameter.type in (FILES, DIRECTORIES) or parameter.entry_per_item:
        return FieldKind.FILES
    if isinstance(parameter.type, str):
        return _KINDS.get(parameter.type, FieldKind.JSON)
    return FieldKind.CHOICE if _list_choices(parameter) else FieldKind.JSON


def _list_choices(parameter: Parameter) -> list[str]:
    match parameter.type:
        case {"type": "enum", "symbols": [*symbols]}:
            return [str(symbol).rsplit("#", 1)[-1].rsplit("/", 1)[-1] for symbol in symbols]
    return []


def read_values(plan: Plan, typed: Mapping[str, str]) -> tuple[dict[str, Any], list[Finding]]:
    """Return the values of the typed texts, and findings for those that are not valid.

    Empty texts are left out, so that the default applies.
    """
    values: dict[str, Any] = {}
    problems: list[Finding] = []
    for name, parameter in plan.parameters.items():
        text = typed.get(name, "")
        if text.strip():
            try:
                is_asset_name = is_asset(text.strip()) and name in plan.file_parameters
                values[name] = text.strip() if is_asset_name else _parse_value(text, parameter)
            except NotReadable as error:
                problems.append(
                    Finding(message=f"parameter {quoted(name)} {error}, not {quoted(text)}")
                )
    return values, problems


def _parse_value(text: str, parameter: Parameter) -> Any:
    value = _parse_text(text, choose_field_kind(parameter))
    return {**value, "class": "Directory"} if parameter.type == "Directory" else value


def _parse_text(text: str, kind: FieldKind) -> Any:
    match kind:
        case FieldKind.TEXT | FieldKind.CHOICE:
            return text
        case FieldKind.TRUTH:
            return _parse_truth(text)
        case FieldKind.INTEGER | FieldKind.NUMBER:
            return _parse_number(text, kind)
        case FieldKind.FILE | FieldKind.FILES:
            return _parse_file(text)
        case FieldKind.JSON:
            return _parse_json(text)
        case _:
            assert_never(kind)


def _parse_json(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise NotReadable("must be written as JSON") from error
    if (number := find_non_finite(value)) is not None:
        raise NotReadable(
            f"must be written as JSON, which has no number such as {describe_number(number)}"
        )
    return value


def _parse_truth(text: str) -> bool:
    if text not in {"true", "false"}:
        raise NotReadable("must be true or false")
    return text == "true"


def _parse_number(text: str, kind: FieldKind) -> float:
    try:
        number = int(text) if kind is FieldKind.INTEGER else float(text)
    except ValueError as error:
        raise NotReadable(
            "must be a whole number" if kind is FieldKind.INTEGER else "must be a number"
        ) from error
    if not math.isfinite(number) or (abs(number) >= 2**63 and kind is FieldKind.INTEGER):
        raise NotReadable("must be a number that can be worked with")
    return number


def _parse_file(text: str) -> dict[str, str]:
    try:
        return {"class": "File", "dataset": str(UUID(text.strip()))}
    except ValueError as error:
        raise NotReadable("must be the uid of a data set of one file") from error
