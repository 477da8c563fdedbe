"""The extension fields (``sluice:…``): their places and their readers.

A field of a step that is also a field of the plan's step reaches it without further code.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError
from ruamel.yaml.comments import CommentedMap

from sluice.contracts.access.secrets import SECRET_SCHEME, SecretRef
from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.data.asset_refs import AssetRef, is_asset
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.jobs.checkpoints import EXAMPLE, Checkpoint
from sluice.contracts.jobs.gpus import GpuAmount
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.jobs.resources import NamedAmounts, RequestedLabels
from sluice.contracts.templates.conditions import Require
from sluice.contracts.templates.plan import Batch, Boundary, MergeGroups, Retention, Retry
from sluice.cwl.features import PLANNED_FIELDS
from sluice.cwl.properties.conditions import InvalidConditionError, parse_amount_condition
from sluice.cwl.properties.field_value import FieldValue, Reader
from sluice.cwl.properties.match_fields import parse_conditions, read_collect, read_match
from sluice.cwl.reading.findings import suggest_or_list, text_place
from sluice.cwl.reading.nodes import plain_json
from sluice.text.sentences import lower_first
from sluice.text.visible_text import quoted


def _model_reader(kind: type[BaseModel], *, hidden_fields: Collection[str] = ()) -> Reader:
    """Return a reader of the model's fields, without ``hidden_fields``."""
    allowed_fields = [name for name in kind.model_fields if name not in hidden_fields]

    def read(value: FieldValue) -> Any:
        mapping = value.mapping()
        if mapping is None:
            return None
        places = value.inner_places()
        values = {value.plain_key(key): plain_json(item) for key, item in mapping.items()}
        unknown = [key for key in values if key not in allowed_fields]
        for key in unknown:
            if f"{value.name}.{key}" in PLANNED_FIELDS:
                value.report_error(
                    f"{quoted(key)} is not supported yet:"
                    f" {PLANNED_FIELDS[f'{value.name}.{key}'].note}",
                    places[key],
                )
            else:
                value.report_error(
                    f"has no field {quoted(key)}{suggest_or_list(key, allowed_fields)}", places[key]
                )
        try:
            return kind.model_validate(
                {key: item for key, item in values.items() if key not in unknown}, strict=True
            )
        except ValidationError as error:
            for problem in error.errors():
                key = str(problem["loc"][0]) if problem["loc"] else ""
                if problem["type"] == "missing":
                    value.report_error(f"requires {quoted(key)}; {FIELDS[value.name].example}")
                    continue
                value.report_error(
                    f"{key}: {lower_first(validation_sentence(problem))}, not"
                    f" {quoted(plain_json(problem['input']))}",
                    places.get(key),
                )
        return None

    return read


def _ask(value: FieldValue) -> Ask | None:
    ask: Ask | None = _model_reader(Ask)(value)
    if ask is None or not ask.labels:
        return ask
    place = value.inner_places()["labels"]
    unknown_answers = sorted(ask.labels.keys() - set(ask.answers))
    label_texts = {ask.labels.get(answer, answer).casefold() for answer in ask.answers}
    if unknown_answers:
        value.report_error(f"labels: {quoted(unknown_answers[0])} is not one of the answers", place)
    elif len(label_texts) < len(ask.answers):
        value.report_error("labels: two answers have the same label", place)
    else:
        return ask
    return None


def _boundary(value: FieldValue) -> Boundary | None:
    boundary: Boundary | None = _model_reader(Boundary)(value)
    if boundary is not None and boundary.minimum > boundary.sufficient:
        value.report_error(
            f"requires at least {boundary.minimum}, but is satisfied with less"
            f" ({boundary.sufficient})"
        )
        return None
    return boundary


def _retention(value: FieldValue) -> Retention | None:
    """Read the retention. An explicit ``input: delete`` also deletes an input without copies."""
    retention: Retention | None = _model_reader(Retention, hidden_fields={"only_copies"})(value)
    if retention is not None and "input" in retention.model_fields_set:
        return retention.model_copy(update={"only_copies": retention.input == "delete"})
    return retention


def _merge(value: FieldValue) -> MergeGroups | None:
    groups: MergeGroups | None = _model_reader(MergeGroups)(value)
    if groups is not None and groups.files is not None and groups.bytes is not None:
        value.report_error("takes 'files' or 'bytes', not both")
        return None
    if groups is not None and groups.tree and (groups.files is None or groups.files < 2):
        value.report_error(
            "has a tree, whose groups are of two files or more: {files: 25, tree: true}"
        )
        return None
    return groups


def _priority(value: FieldValue) -> int | None:
    if (
        isinstance(value.raw_value, int)
        and not isinstance(value.raw_value, bool)
        and abs(value.raw_value) <= 1_000_000
    ):
        return value.raw_value
    value.report_error(
        "is a whole number from -1000000 to 1000000; the greatest wins where several templates"
        " match"
    )
    return None


def _rank(value: FieldValue) -> float | None:
    rank = value.raw_value
    if isinstance(rank, int | float) and not isinstance(rank, bool) and 0 <= rank <= 1_000_000:
        return float(rank)
    value.report_error("is a number from 0 to 1000000")
    return None


def _constant_reader(expected_value: bool | str, result: bool | str) -> Reader:
    """Return a reader that reads the only valid value as ``result``."""

    def read(value: FieldValue) -> bool | str | None:
        if isinstance(value.raw_value, type(expected_value)) and value.raw_value == expected_value:
            return result
        value.report_error(f"is {quoted(str(expected_value).lower())}, or left out")
        return None

    return read


def _warm(value: FieldValue) -> Warm | None:
    if isinstance(value.raw_value, bool):
        return Warm() if value.raw_value else None  # false overrides the tool
    if isinstance(value.raw_value, CommentedMap) and "kind" in map(
        value.plain_key, map(str, value.raw_value)
    ):
        value.report_error(
            "has no field 'kind'; there is: key, idle, jobs", value.inner_places()["kind"]
        )
        return None
    warm: Warm | None = _model_reader(Warm)(value)
    return warm


def _bind(value: FieldValue) -> dict[str, str] | None:
    mapping = value.mapping()
    if mapping is None:
        return None
    bindings: dict[str, str] = {}
    for key, target in mapping.items():
        if not isinstance(target, str) or not target:
            value.report_error(
                "gives each parameter the name of a metadata key, of a secret as in"
                f" secret:places-api, or of an asset as in asset:model; {quoted(key)} has"
                f" {quoted(plain_json(target))}",
                text_place(mapping, key),
            )
        elif problem := _target_problem(target):
            value.report_error(f"{key}: {problem}", text_place(mapping, key))
        else:
            bindings[value.plain_key(key)] = target
    return bindings


def _target_problem(target: str) -> str:
    """Return what is wrong with the name of a secret or asset, or an empty text."""
    try:
        if target.startswith(SECRET_SCHEME):
            SecretRef(name=target.removeprefix(SECRET_SCHEME))
        elif is_asset(target):
            AssetRef.read(target)
    except ValidationError as error:
        return validation_sentence(error.errors()[0])
    return ""


def _require(value: FieldValue) -> Require | None:
    mapping = value.mapping()
    if mapping is None:
        return None
    if not mapping:
        value.report_error(f"is empty; {FIELDS[value.name].example}")
    conditions: dict[str, Any] = {}
    for key, condition in mapping.items():
        name, place = value.plain_key(key), text_place(mapping, key)
        if name not in Require.model_fields:
            value.report_error(
                f"has no field {quoted(name)}{suggest_or_list(name, Require.model_fields)}", place
            )
        elif name in {"meta", "parameters"}:
            if isinstance(condition, CommentedMap) and condition:
                conditions[name] = parse_conditions(value, condition)
            else:
                value.report_error(
                    f"{name}: is a mapping of names to what must hold of them", place
                )
        else:
            try:
                conditions[name] = parse_amount_condition(condition)
            except InvalidConditionError as error:
                value.report_error(f"{name}: {error}", place)
    return Require(**conditions)


@dataclass(frozen=True, slots=True)
class ExtensionField:
    """An extension field.

    Attributes:
        owner_kind: The kind of node that the field belongs to.
        read: Returns the value, or None after an error.
        example: An example of the field.
        is_inherited: Whether it applies to the inner steps if the step's workflow is flattened.
        allowed_on_workflow: Whether a step's field may be on the workflow, for all its steps.
        allowed_on_tool: Whether it may be on the tool, for steps that do not have it themselves.
    """

    owner_kind: Literal["workflow", "step", "output"]
    read: Reader
    example: str = ""
    is_inherited: bool = False
    allowed_on_workflow: bool = False
    allowed_on_tool: bool = False

    def is_allowed_on(self, kind: str) -> bool:
        """Return whether the field may be on a node.

        Args:
            kind: ``workflow``, ``step``, ``tool``, ``output``, or something else.
        """
        if kind == "tool":
            return self.allowed_on_tool
        return kind == self.owner_kind or (self.allowed_on_workflow and kind == "workflow")

    @property
    def owner(self) -> str:
        """Return what the field belongs to, as a phrase."""
        if self.allowed_on_tool:
            return "a step or its tool"
        if self.owner_kind == "output":
            return "an output of the workflow"
        return "a step or the workflow" if self.allowed_on_workflow else f"a {self.owner_kind}"


def _resources(value: FieldValue) -> dict[str, float] | None:
    """Read the amounts of named resources."""
    mapping = value.mapping()
    if mapping is None:
        return None
    amounts = {}
    for key, amount in mapping.items():
        name, place = value.plain_key(key), text_place(mapping, key)
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            value.report_error(
                f"{name}: is how much of it a job needs, not {quoted(plain_json(amount))}", place
            )
            continue
        if problem := _find_problem(_NAMED_AMOUNTS, {name: amount}):
            value.report_error(f"{name}: {problem}", place)
        else:
            amounts[name] = float(amount)
    return amounts


def _nodes(value: FieldValue) -> dict[str, list[str]] | None:
    """Read the labels of nodes, each with the accepted values."""
    mapping = value.mapping()
    if mapping is None:
        return None
    labels = {}
    for key, raw_values in mapping.items():
        name, place = value.plain_key(key), text_place(mapping, key)
        values = plain_json(raw_values)
        values = values if isinstance(values, list) else [values]
        if not values or not all(isinstance(item, str) and item for item in values):
            value.report_error(
                f"{name}: is the value that the nodes' label has, or a list of such, in text; not"
                f" {quoted(plain_json(raw_values))}",
                place,
            )
        elif problem := _find_problem(_LABELS, {name: values}):
            value.report_error(f"{name}: {problem}", place)
        else:
            labels[name] = values
    return labels


_NAMED_AMOUNTS: TypeAdapter[Any] = TypeAdapter(NamedAmounts)
_LABELS: TypeAdapter[Any] = TypeAdapter(RequestedLabels)


def _find_problem(adapter: TypeAdapter[Any], value: Any) -> str:
    """Return what is wrong with a value, or an empty text."""
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return lower_first(validation_sentence(error.errors()[0]))
    return ""


FIELDS: dict[str, ExtensionField] = {
    "match": ExtensionField("workflow", read_match, "sluice:match: {detector: spd}"),
    "collect": ExtensionField("output", read_collect, "sluice:collect: corpus"),
    "priority": ExtensionField("workflow", _priority),
    "bind": ExtensionField(
        "workflow",
        _bind,
        "sluice:bind: {run_number: run, token: secret:places-api, model: asset:model}",
    ),
    "require": ExtensionField("workflow", _require, "sluice:require: {files: {minimum: 10}}"),
    "retention": ExtensionField(
        "workflow", _retention, "sluice:retention: {input: keep, logs: keep}"
    ),
    "boundary": ExtensionField(
        "step",
        _boundary,
        "sluice:boundary: {minimum: 0.9, sufficient: 1.0}",
        is_inherited=True,
    ),
    "retry": ExtensionField(
        "step", _model_reader(Retry), "sluice:retry: {attempts: 3, backoff: 1.0}", is_inherited=True
    ),
    "rank": ExtensionField("step", _rank, is_inherited=True),
    "sandbox": ExtensionField(
        "step",
        _constant_reader("required", result=True),
        "sluice:sandbox: required",
        is_inherited=True,
        allowed_on_workflow=True,
    ),
    "gpu": ExtensionField(
        "step",
        _model_reader(GpuAmount),
        "sluice:gpu: {share: 0.25, memory: 4096}",
        is_inherited=True,
    ),
    "resources": ExtensionField(
        "step",
        _resources,
        "sluice:resources: {licence: 1}",
        is_inherited=True,
        allowed_on_workflow=True,
    ),
    "nodes": ExtensionField(
        "step", _nodes, "sluice:nodes: {site: prague}", is_inherited=True, allowed_on_workflow=True
    ),
    "warm": ExtensionField(
        "step",
        _warm,
        "sluice:warm: {key: [model], idle: 300, jobs: 1000}",
        is_inherited=True,
        allowed_on_tool=True,
    ),
    "checkpoint": ExtensionField(
        "step", _model_reader(Checkpoint), EXAMPLE, is_inherited=True, allowed_on_tool=True
    ),
    "flow": ExtensionField(
        "step",
        _constant_reader("dataset", result="dataset"),
        "sluice:flow: dataset",
        is_inherited=True,
    ),
    "merge": ExtensionField("step", _merge, "sluice:merge: {files: 25}"),
    "invoke": ExtensionField("step", _constant_reader(True, result=True)),
    "ask": ExtensionField("step", _ask, "sluice:ask: {question: Is the page readable?}"),
    "batch": ExtensionField("step", _model_reader(Batch), "sluice:batch: {files: 100}"),
}
