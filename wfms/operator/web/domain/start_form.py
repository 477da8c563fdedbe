"""The form to start a chain: a field or a group of fields for each parameter."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.parameters import describe
from sluice.contracts.templates.plan import Plan
from wfms.operator.templates.domain.parameters import type_name
from wfms.operator.web.domain.field_kinds import FieldKind, FieldType, describe_parameter
from wfms.operator.web.domain.field_problems import group_problems
from wfms.operator.web.domain.posted_values import (
    Path,
    find_initial,
    is_sent,
    is_unchanged,
    join_path,
    list_texts,
)
from wfms.operator.web.domain.typed_values import example_of, value_text


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form, or a group of fields.

    Attributes:
        key: The name of the field in the form.
        otherwise: The value if nothing is typed, in words.
        needed: Whether the record of the field is incomplete without it.
        hint: How to type a value.
        example: A value as JSON.
        typed: The text in the field.
        changed: Whether something was typed.
        problem: The fault of the text.
        fields: The fields of a group.
    """

    key: str
    name: str
    kind: FieldKind
    type: str
    doc: str
    required: bool
    otherwise: str = ""
    choices: Sequence[str] = ()
    needed: bool = False
    hint: str = ""
    example: str = ""
    typed: str = ""
    changed: bool = False
    problem: str = ""
    fields: Sequence["Field"] = ()

    def walk(self) -> Iterator["Field"]:
        """Yield the field, and the fields within it."""
        yield self
        for inner in self.fields:
            yield from inner.walk()

    @property
    def is_wrong(self) -> bool:
        """Return whether the field or a field within it has a problem."""
        return any(inner.problem for inner in self.walk())


@dataclass(frozen=True, slots=True)
class _Form:
    """What the fields of a form contain.

    Attributes:
        texts: The text of each field, as sent or pre-filled.
        messages: The problems of each field.
    """

    texts: Mapping[str, str]
    messages: Mapping[str, Sequence[str]]


def list_fields(
    plan: Plan,
    known_values: Mapping[str, Any],
    *,
    typed: Mapping[str, str] | None = None,
    findings: Sequence[Finding] = (),
    source: str = ", from the data set",
) -> list[Field]:
    """Return a field for each parameter of the plan.

    Args:
        plan: The plan of the template.
        known_values: Values that apply to parameters that are left out.
        typed: The texts that were sent, by the name of the field.
        findings: The errors of the request, which name their parameters.
        source: Where the known values are from, in words.
    """
    sent = typed or {}
    described = {name: describe_parameter(each) for name, each in plan.parameters.items()}
    keys = [key for name, each in described.items() for key in _list_keys(each, (name,))]
    messages, _ = group_problems(findings, list(plan.parameters), keys)
    return [
        _build_parameter(
            plan,
            name,
            sent=sent,
            messages=messages,
            initial=find_initial(name, parameter, known_values),
            otherwise=_describe_initial(name, plan, known_values, source=source),
        )
        for name, parameter in plan.parameters.items()
    ]


def list_other_findings(plan: Plan, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that are shown at no field."""
    return group_problems(findings, list(plan.parameters), [])[1]


def _list_keys(field_type: FieldType, path: Path) -> Iterator[str]:
    yield join_path(path)
    for part in field_type.fields:
        yield from _list_keys(part.type, (*path, part.name))


def _describe_initial(
    name: str, plan: Plan, known_values: Mapping[str, Any], *, source: str
) -> str:
    """Return the value that applies if nothing is typed, in words."""
    if known_values.get(name) is not None:
        return f"{value_text(known_values[name])}{source}"
    if name in plan.assets:
        return str(plan.assets[name])
    default = plan.parameters[name].default
    return "" if default is None else value_text(default)


def _build_parameter(
    plan: Plan,
    name: str,
    *,
    sent: Mapping[str, str],
    messages: Mapping[str, Sequence[str]],
    initial: Any,
    otherwise: str,
) -> Field:
    """Return the field of a parameter. A record that has a value already is pre-filled."""
    parameter = plan.parameters[name]
    field_type = describe_parameter(parameter)
    is_prefilled = field_type.kind is FieldKind.GROUP and initial is not None
    if is_prefilled and not is_sent(name, sent):
        form = _Form(list_texts(initial, field_type, (name,)), messages)
    else:
        form = _Form(sent, messages)
    field = _build(field_type, (name,), form, required=parameter.required and initial is None)
    is_typed = is_sent(name, sent) and any(inner.typed.strip() for inner in field.walk())
    field = replace(
        field,
        type=type_name(parameter.type),
        doc=parameter.doc,
        otherwise=otherwise,
        changed=is_typed and not is_unchanged(name, field_type, sent, initial),
    )
    if name not in plan.assets:
        return field
    # A user may name another asset in the field of a parameter that an asset provides.
    return replace(field, kind=FieldKind.TEXT, required=False, hint="", fields=())


def _build(field_type: FieldType, path: Path, form: _Form, *, required: bool) -> Field:
    key = join_path(path)
    is_group = field_type.kind is FieldKind.GROUP
    takes_record = is_group and not field_type.takes_dataset
    inner = [
        replace(
            _build(
                part.type,
                (*path, part.name),
                form,
                required=required and takes_record and not part.type.optional,
            ),
            type=type_name(part.cwl),
            doc=part.doc,
            needed=not part.type.optional,
        )
        for part in field_type.fields
    ]
    problem = "; ".join(form.messages.get(key, ()))
    field = Field(
        key=key,
        name=path[-1],
        kind=field_type.kind,
        type=type_name(field_type.cwl),
        doc="",
        required=required,
        choices=field_type.choices,
        hint=_describe_input(field_type),
        example=example_of(field_type.cwl) if field_type.kind is FieldKind.JSON else "",
        typed=form.texts.get(key, ""),
        problem=problem,
        fields=inner,
    )
    if is_group and field_type.takes_dataset:
        return replace(field, typed="", fields=[_bundle_field(field), *inner], problem="")
    return field


def _bundle_field(group: Field) -> Field:
    """Return the field for a data set in place of the fields of a record."""
    return replace(
        group,
        name="data set",
        kind=FieldKind.FILES,
        type="uid",
        required=False,
        hint="For a record with files: a closed data set of one bundle in place of the fields.",
        fields=(),
    )


def _describe_input(field_type: FieldType) -> str:
    """Return a sentence on how to type a value."""
    or_dataset = " Or the uid of a data set of one bundle." if field_type.takes_dataset else ""
    match field_type.kind:
        case FieldKind.FILE:
            return "A closed data set of one file."
        case FieldKind.FILES:
            return "A closed data set."
        case FieldKind.LINES:
            (item,) = field_type.alternatives
            is_listed = item.kind in {FieldKind.CHOICE, FieldKind.UNION}
            values = f": {describe(item.cwl)}" if is_listed else ""
            return f"One value a line{values}.{or_dataset}"
        case FieldKind.JSON:
            return f"Written as JSON.{or_dataset}"
        case FieldKind.UNION:
            return f"{_describe_union(field_type)}{or_dataset}"
    return ""


def _describe_union(field_type: FieldType) -> str:
    names = [describe(alternative.cwl) for alternative in field_type.alternatives]
    if len(names) == 1:
        return f"Read as {names[0]}."
    quotes = ' A text in quotes is a string: "7".' if names[-1] == "string" else ""
    return f"Read as the first type that fits: {', then '.join(names)}.{quotes}"
