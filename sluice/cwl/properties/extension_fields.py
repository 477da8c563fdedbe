"""The extension fields (``sluice:…``): their places and their readers.

A field of a step that is also a field of the plan's step reaches it without further code.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError
from ruamel.yaml.comments import CommentedMap

from sluice.contracts.access.secrets import SCHEME, SecretRef
from sluice.contracts.common.wording import sentence_of
from sluice.contracts.data.asset_refs import AssetRef, is_asset
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.jobs.checkpoints import EXAMPLE, Checkpoint
from sluice.contracts.jobs.gpus import GpuAmount
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.jobs.resources import NamedAmounts, WantedLabels
from sluice.contracts.templates.plan import Batch, Boundary, MergeGroups, Require, Retention, Retry
from sluice.cwl.features import LATER
from sluice.cwl.properties.conditions import WrongConditionError, amount_of
from sluice.cwl.properties.field_value import FieldValue, Reader
from sluice.cwl.properties.match_fields import conditions_in, read_collect, read_match
from sluice.cwl.reading.findings import did_you_mean, text_place
from sluice.cwl.reading.nodes import plain_json
from sluice.text.visible_text import quoted


def _model(kind: type[BaseModel], *, hidden: Collection[str] = ()) -> Reader:
    """Return a reader of the model's fields, without those that are ``hidden`` from templates."""
    fields = [name for name in kind.model_fields if name not in hidden]

    def read(value: FieldValue) -> Any:
        written = value.mapping()
        if written is None:
            return None
        places = value.inner_places()
        given = {value.plain_key(key): plain_json(item) for key, item in written.items()}
        unknown = [key for key in given if key not in fields]
        for key in unknown:
            if f"{value.name}.{key}" in LATER:
                value.wrong(
                    f"{quoted(key)} is not supported yet: {LATER[f'{value.name}.{key}'].note}",
                    places[key],
                )
            else:
                value.wrong(f"knows no {quoted(key)}{did_you_mean(key, fields)}", places[key])
        try:
            return kind.model_validate(
                {key: item for key, item in given.items() if key not in unknown}, strict=True
            )
        except ValidationError as error:
            for each in error.errors():
                key, said = str(each["loc"][0]) if each["loc"] else "", sentence_of(each)
                if each["type"] == "missing":
                    value.wrong(f"says no {quoted(key)}; {FIELDS[value.name].example}")
                    continue
                value.wrong(
                    f"{key}: {said[0].lower()}{said[1:]}, not {quoted(plain_json(each['input']))}",
                    places.get(key),
                )
        return None

    return read


def _ask(value: FieldValue) -> Ask | None:
    ask: Ask | None = _model(Ask)(value)
    if ask is None or not ask.labels:
        return ask
    unknown = sorted(ask.labels.keys() - set(ask.answers))
    shown = {ask.labels.get(answer, answer).casefold() for answer in ask.answers}
    if unknown:
        value.wrong(
            f"labels: {quoted(unknown[0])} is none of the answers", value.inner_places()["labels"]
        )
    elif len(shown) < len(ask.answers):
        value.wrong("labels: two answers have the same label", value.inner_places()["labels"])
    else:
        return ask
    return None


def _boundary(value: FieldValue) -> Boundary | None:
    boundary: Boundary | None = _model(Boundary)(value)
    if boundary is not None and boundary.minimum > boundary.sufficient:
        value.wrong(
            f"asks for at least {boundary.minimum}, and is satisfied with less"
            f" ({boundary.sufficient})"
        )
        return None
    return boundary


def _retention(value: FieldValue) -> Retention | None:
    """Read the retention. An explicit ``input: delete`` also deletes an input without copies."""
    retention: Retention | None = _model(Retention, hidden={"only_copies"})(value)
    if retention is not None and "input" in retention.model_fields_set:
        return retention.model_copy(update={"only_copies": retention.input == "delete"})
    return retention


def _merge(value: FieldValue) -> MergeGroups | None:
    groups: MergeGroups | None = _model(MergeGroups)(value)
    if groups is not None and groups.files is not None and groups.bytes is not None:
        value.wrong("takes 'files' or 'bytes', not both")
        return None
    if groups is not None and groups.tree and (groups.files is None or groups.files < 2):
        value.wrong("has a tree, whose groups are of two files or more: {files: 25, tree: true}")
        return None
    return groups


def _priority(value: FieldValue) -> int | None:
    if (
        isinstance(value.written, int)
        and not isinstance(value.written, bool)
        and abs(value.written) <= 1_000_000
    ):
        return value.written
    value.wrong(
        "is a whole number from -1000000 to 1000000; the greatest wins where several templates"
        " match"
    )
    return None


def _rank(value: FieldValue) -> float | None:
    written = value.written
    if (
        isinstance(written, int | float)
        and not isinstance(written, bool)
        and 0 <= written <= 1_000_000
    ):
        return float(written)
    value.wrong("is a number from 0 to 1000000")
    return None


def _invoke(value: FieldValue) -> bool | None:
    if value.written is True:
        return True
    value.wrong("is 'true', or left out")
    return None


def _sandbox(value: FieldValue) -> bool | None:
    if value.written == "required":
        return True
    value.wrong("is 'required', or left out")
    return None


def _flow(value: FieldValue) -> str | None:
    if value.written == "dataset":
        return "dataset"
    value.wrong("is 'dataset', or left out")
    return None


def _warm(value: FieldValue) -> Warm | None:
    if isinstance(value.written, bool):
        return Warm() if value.written else None  # false overrides the tool
    if isinstance(value.written, CommentedMap) and "kind" in map(
        value.plain_key, map(str, value.written)
    ):
        value.wrong("knows no 'kind'; there is: key, idle, jobs", value.inner_places()["kind"])
        return None
    warm: Warm | None = _model(Warm)(value)
    return warm


def _bind(value: FieldValue) -> dict[str, str] | None:
    written = value.mapping()
    if written is None:
        return None
    bound: dict[str, str] = {}
    for key, target in written.items():
        if not isinstance(target, str) or not target:
            value.wrong(
                "gives each parameter the name of a metadata key, of a secret as in"
                f" secret:places-api, or of an asset as in asset:model; {quoted(key)} has"
                f" {quoted(plain_json(target))}",
                text_place(written, key),
            )
        elif wrong := _wrong_secret(target) or _wrong_asset(target):
            value.wrong(f"{key}: {wrong}", text_place(written, key))
        else:
            bound[value.plain_key(key)] = target
    return bound


def _wrong_secret(target: str) -> str:
    """Return what is wrong with the name of a secret, or an empty text."""
    if not target.startswith(SCHEME):
        return ""
    try:
        SecretRef(name=target.removeprefix(SCHEME))
    except ValidationError as error:
        return sentence_of(error.errors()[0])
    return ""


def _wrong_asset(target: str) -> str:
    """Return what is wrong with the name of an asset, or an empty text."""
    if not is_asset(target):
        return ""
    try:
        AssetRef.read(target)
    except ValidationError as error:
        return sentence_of(error.errors()[0])
    return ""


def _require(value: FieldValue) -> Require | None:
    written = value.mapping()
    if written is None:
        return None
    if not written:
        value.wrong(f"says nothing; {FIELDS[value.name].example}")
    found: dict[str, Any] = {}
    for key, wanted in written.items():
        name, place = value.plain_key(key), text_place(written, key)
        if name not in Require.model_fields:
            value.wrong(f"knows no {quoted(name)}{did_you_mean(name, Require.model_fields)}", place)
        elif name in {"meta", "parameters"}:
            if isinstance(wanted, CommentedMap) and wanted:
                found[name] = conditions_in(value, wanted)
            else:
                value.wrong(f"{name}: is a mapping of names to what must hold of them", place)
        else:
            try:
                found[name] = amount_of(wanted)
            except WrongConditionError as error:
                value.wrong(f"{name}: {error}", place)
    return Require(**found)


@dataclass(frozen=True, slots=True)
class ExtensionField:
    """An extension field.

    Attributes:
        belongs_to: What it belongs to.
        read: Returns the value, or None after an error.
        example: An example of the field.
        comes_down: Whether it applies to the inner steps if the step's workflow is flattened.
        for_all: Whether a step's field may be on the workflow, for all its steps.
        of_tool: Whether it may be on the tool, for steps that do not have it themselves.
    """

    belongs_to: Literal["workflow", "step", "output"]
    read: Reader
    example: str = ""
    comes_down: bool = False
    for_all: bool = False
    of_tool: bool = False

    def may_stand_on(self, kind: str) -> bool:
        """Return whether the field may be on a node.

        Args:
            kind: ``workflow``, ``step``, ``tool``, ``output``, or something else.
        """
        if kind == "tool":
            return self.of_tool
        return kind == self.belongs_to or (self.for_all and kind == "workflow")

    @property
    def owner(self) -> str:
        """Return what the field belongs to, as a phrase."""
        if self.of_tool:
            return "a step or its tool"
        if self.belongs_to == "output":
            return "an output of the workflow"
        return "a step or the workflow" if self.for_all else f"a {self.belongs_to}"


def _resources(value: FieldValue) -> dict[str, float] | None:
    """Read the amounts of named resources."""
    written = value.mapping()
    if written is None:
        return None
    found = {}
    for key, amount in written.items():
        name, place = value.plain_key(key), text_place(written, key)
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            value.wrong(
                f"{name}: is how much of it a job needs, not {quoted(plain_json(amount))}", place
            )
            continue
        if wrong := _wrong_in(_named, {name: amount}):
            value.wrong(f"{name}: {wrong}", place)
        else:
            found[name] = float(amount)
    return found


def _nodes(value: FieldValue) -> dict[str, list[str]] | None:
    """Read the labels of nodes, each with the accepted values."""
    written = value.mapping()
    if written is None:
        return None
    found = {}
    for key, wanted in written.items():
        name, place = value.plain_key(key), text_place(written, key)
        values = plain_json(wanted)
        values = values if isinstance(values, list) else [values]
        if not values or not all(isinstance(one, str) and one for one in values):
            value.wrong(
                f"{name}: is the value that the nodes' label has, or a list of such, in text; not"
                f" {quoted(plain_json(wanted))}",
                place,
            )
        elif wrong := _wrong_in(_wanted_labels, {name: values}):
            value.wrong(f"{name}: {wrong}", place)
        else:
            found[name] = values
    return found


_named: TypeAdapter[Any] = TypeAdapter(NamedAmounts)
_wanted_labels: TypeAdapter[Any] = TypeAdapter(WantedLabels)


def _wrong_in(kind: TypeAdapter[Any], given: Any) -> str:
    """Return what is wrong with a value, or an empty text."""
    try:
        kind.validate_python(given)
    except ValidationError as error:
        said = sentence_of(error.errors()[0])
        return f"{said[0].lower()}{said[1:]}"
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
        comes_down=True,
    ),
    "retry": ExtensionField(
        "step", _model(Retry), "sluice:retry: {attempts: 3, backoff: 1.0}", comes_down=True
    ),
    "rank": ExtensionField("step", _rank, comes_down=True),
    "sandbox": ExtensionField(
        "step", _sandbox, "sluice:sandbox: required", comes_down=True, for_all=True
    ),
    "gpu": ExtensionField(
        "step", _model(GpuAmount), "sluice:gpu: {share: 0.25, memory: 4096}", comes_down=True
    ),
    "resources": ExtensionField(
        "step", _resources, "sluice:resources: {licence: 1}", comes_down=True, for_all=True
    ),
    "nodes": ExtensionField(
        "step", _nodes, "sluice:nodes: {site: prague}", comes_down=True, for_all=True
    ),
    "warm": ExtensionField(
        "step",
        _warm,
        "sluice:warm: {key: [model], idle: 300, jobs: 1000}",
        comes_down=True,
        of_tool=True,
    ),
    "checkpoint": ExtensionField(
        "step", _model(Checkpoint), EXAMPLE, comes_down=True, of_tool=True
    ),
    "flow": ExtensionField("step", _flow, "sluice:flow: dataset", comes_down=True),
    "merge": ExtensionField("step", _merge, "sluice:merge: {files: 25}"),
    "invoke": ExtensionField("step", _invoke),
    "ask": ExtensionField("step", _ask, "sluice:ask: {question: Is the page readable?}"),
    "batch": ExtensionField("step", _model(Batch), "sluice:batch: {files: 100}"),
}
