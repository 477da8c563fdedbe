"""The values of the parameters in a posted form.

The name of a field is its path: the parameter, then the fields of records, joined by a slash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sluice.contracts.common.problems import Finding
from sluice.contracts.data.asset_refs import is_asset
from sluice.contracts.templates.parameters import (
    describe,
    find_problems,
    find_unknown_fields,
    names_dataset,
)
from sluice.contracts.templates.plan import Parameter, Plan
from sluice.text.visible_text import quoted
from wfms.operator.web.domain.field_kinds import FieldKind, FieldType, describe_parameter
from wfms.operator.web.domain.typed_values import InvalidTypedValue, format_value, parse_text

Path = tuple[str, ...]


def join_path(path: Sequence[str]) -> str:
    """Return the name of a form field."""
    return "/".join(path)


@dataclass(slots=True)
class _Problems:
    """The findings about the fields of a form."""

    findings: list[Finding] = field(default_factory=list)

    def add(self, path: Path, message: str) -> None:
        name, *fields = path
        self.findings.append(Finding.about_parameter(name, message, place=".".join(fields)))


def read_values(
    plan: Plan, typed: Mapping[str, str], known_values: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """Return the values of the typed texts, and findings for those that are not valid.

    Empty fields are left out, so that the default applies. Records that are as they were
    pre-filled are left out for the same reason.

    Args:
        plan: The plan of the template.
        typed: The texts that were sent, by the name of the field.
        known_values: Values that apply to parameters that are left out.
    """
    other_values = known_values or {}
    values: dict[str, Any] = {}
    problems = _Problems()
    for name, parameter in plan.parameters.items():
        field_type = describe_parameter(parameter)
        text = typed.get(name, "").strip()
        value: Any
        if is_asset(text) and name in plan.file_parameters:
            value = text
        elif is_unchanged(name, field_type, typed, find_initial(name, parameter, other_values)):
            value = None
        else:
            value = _read(
                field_type,
                (name,),
                typed,
                problems=problems,
                required=_is_required_group(name, parameter, field_type, typed)
                and name not in plan.assets
                and other_values.get(name) is None,
            )
        if value is not None:
            values[name] = value
    return values, problems.findings


def _is_required_group(
    name: str, parameter: Parameter, field_type: FieldType, typed: Mapping[str, str]
) -> bool:
    """Return whether a record was sent that must not be left out.

    Other parameters without a value are found by ``check_values``.
    """
    required = parameter.required and parameter.default is None
    return required and field_type.kind is FieldKind.GROUP and is_sent(name, typed)


def find_initial(name: str, parameter: Parameter, known_values: Mapping[str, Any]) -> Any:
    """Return the value that applies to a parameter that is left out, or None."""
    value = known_values.get(name)
    return parameter.default if value is None else value


def is_sent(name: str, typed: Mapping[str, str]) -> bool:
    """Return whether the form was sent with fields of the parameter."""
    return name in typed or any(key.startswith(f"{name}/") for key in typed)


def is_unchanged(name: str, field_type: FieldType, typed: Mapping[str, str], initial: Any) -> bool:
    """Return whether the group of a parameter was sent as it was pre-filled."""
    if field_type.kind is not FieldKind.GROUP or initial is None:
        return False
    before = list_texts(initial, field_type, (name,))
    names = set(before) | {key for key in typed if key == name or key.startswith(f"{name}/")}
    return all(
        _without_returns(typed.get(key, "")) == _without_returns(before.get(key, ""))
        for key in names
    )


def _without_returns(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def list_texts(value: Any, field_type: FieldType, path: Path) -> dict[str, str]:
    """Return the texts of the fields of a value, by the name of the field."""
    if field_type.kind is not FieldKind.GROUP:
        return {join_path(path): format_value(value, field_type)}
    if field_type.takes_dataset and names_dataset(value):
        return {join_path(path): str(value["dataset"])}
    texts: dict[str, str] = {}
    for part in field_type.fields:
        inner = value.get(part.name) if isinstance(value, Mapping) else None
        texts |= list_texts(inner, part.type, (*path, part.name))
    return texts


def _read(
    field_type: FieldType,
    path: Path,
    typed: Mapping[str, str],
    *,
    problems: _Problems,
    required: bool,
) -> Any:
    """Return the value of a field or a group, or None if nothing is typed."""
    text = typed.get(join_path(path), "")
    if field_type.kind is FieldKind.GROUP and not text.strip():
        return _read_group(field_type, path, typed, problems=problems, required=required)
    if not text.strip():
        if required:
            problems.add(path, f"({describe(field_type.cwl)}) is required and has no value")
        return None
    if field_type.kind is FieldKind.GROUP and not _is_blank(field_type, path, typed):
        problems.add(path, "is either a data set or the fields of the record, not both")
        return None
    try:
        return parse_text(text, field_type)
    except InvalidTypedValue as error:
        problems.add(path, f"{error}, not {quoted(text if error.line is None else error.line)}")
    return None


def _read_group(
    field_type: FieldType,
    path: Path,
    typed: Mapping[str, str],
    *,
    problems: _Problems,
    required: bool,
) -> dict[str, Any] | None:
    """Return a record, or None for an optional record whose fields are all empty."""
    if not required and _is_blank(field_type, path, typed):
        return None
    record = {}
    for part in field_type.fields:
        value = _read(
            part.type,
            (*path, part.name),
            typed,
            problems=problems,
            required=not part.type.optional,
        )
        if value is not None:
            record[part.name] = value
    return record


def _is_blank(field_type: FieldType, path: Path, typed: Mapping[str, str]) -> bool:
    """Return whether all fields of a group are empty."""
    for part in field_type.fields:
        inner = (*path, part.name)
        if typed.get(join_path(inner), "").strip() or not _is_blank(part.type, inner, typed):
            return False
    return True


def check_values(
    plan: Plan,
    values: Mapping[str, Any],
    *,
    known_values: Mapping[str, Any],
    unreadable: Sequence[Finding],
) -> list[Finding]:
    """Return what is wrong with the values of a form, as ``sluice run`` checks them.

    Args:
        plan: The plan of the template.
        values: The values that were read from the form.
        known_values: Values that apply to parameters that are left out.
        unreadable: The findings about fields that could not be read. Their parameters are not
            checked again.
    """
    skipped = {finding.parameter for finding in unreadable}
    findings = [
        finding
        for finding in find_problems(plan, {**known_values, **values})
        if finding.parameter not in skipped
    ]
    return findings or find_unknown_fields(plan, values)
