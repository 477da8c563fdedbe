"""The extension fields (``sluice:…``): what there is, where each belongs, and how it is read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.plan import Batch, Boundary, Condition, MergeGroups, Require, Retention, Retry
from sluice.contracts.wording import sentence_of
from sluice.cwl.documents.canonical import MOST_NESTED_WORKFLOWS
from sluice.cwl.documents.document import Document
from sluice.cwl.features import LATER
from sluice.cwl.properties.conditions import amount_of, condition_of
from sluice.cwl.reading.findings import Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import local_name, named_nodes, plain_json

#: Steps of nested workflows whose fields are read.
_MOST_NESTED = 2000

NAMESPACE = "urn:sluice:cwl:"
PREFIX = "sluice"


@dataclass(slots=True)
class Fields:
    """The fields of one workflow or step that were read without an error, and where each stands."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, TextPlace] = field(default_factory=dict)
    #: Places of the keys inside a field: ``("bind", "run")``; of keys inside these ``("require",
    #: "parameters.cut")``.
    inner: dict[tuple[str, str], TextPlace] = field(default_factory=dict)


@dataclass(slots=True)
class Extensions:
    workflow: Fields = field(default_factory=Fields)
    steps: dict[str, Fields] = field(default_factory=dict)
    #: Of the steps of nested workflows, by their names one behind the other (``outer.inner``).
    nested: dict[str, Fields] = field(default_factory=dict)


def refuse_nested(extensions: Extensions, findings: Findings) -> None:
    """Steps of workflows that run inside one job are none of the system's."""
    for fields in extensions.nested.values():
        for name, place in fields.places.items():
            findings.error(
                place,
                f"'{PREFIX}:{name}' belongs to a {FIELDS[name][0]}, not here: this one runs inside"
                " a job",
            )


def read_extensions(document: Document, findings: Findings) -> Extensions:
    """All extension fields of the document; every one that is unknown, misplaced or wrong is an
    error."""
    return _Reader(document, findings).read()


class _Reader:
    def __init__(self, document: Document, findings: Findings) -> None:
        self.document = document
        self.findings = findings
        declared = [
            prefix for prefix, address in document.namespaces.items() if address == NAMESPACE
        ]
        self.prefixes = {f"{prefix}:" for prefix in declared}
        taken = PREFIX in document.namespaces and PREFIX not in declared
        self.starts = (NAMESPACE, *self.prefixes, *(() if taken else (f"{PREFIX}:",)))
        self.undeclared = False
        if taken:
            findings.error(
                text_place(document.root, "$namespaces"),
                f"the prefix '{PREFIX}' stands for '{NAMESPACE}' and nothing else",
            )

    def read(self) -> Extensions:
        found = Extensions()
        written = self.document.written
        homes: dict[int, tuple[str, Fields]] = {id(written): ("workflow", found.workflow)}
        for step in named_nodes(written.get("steps")):
            if step.body is not None:
                homes[id(step.body)] = ("step", found.steps.setdefault(step.name, Fields()))
        self._find_nested(written, "", homes, found)
        self._walk(self.document.root, homes)
        return found

    def _find_nested(
        self,
        workflow: CommentedMap,
        prefix: str,
        homes: dict[int, tuple[str, Fields]],
        found: Extensions,
    ) -> None:
        """A workflow that several steps run is one text, so their fields are the same."""
        for step in named_nodes(workflow.get("steps")):
            run = None if step.body is None else step.body.get("run")
            run = self.document.graph.get(local_name(run)) if isinstance(run, str) else run
            if (
                not isinstance(run, CommentedMap)
                or run.get("class") != "Workflow"
                or prefix.count(".") > MOST_NESTED_WORKFLOWS
            ):
                continue
            if len(found.nested) > _MOST_NESTED:
                return
            inside = f"{prefix}{step.name}."
            for inner in named_nodes(run.get("steps")):
                if inner.body is not None:
                    _, fields = homes.setdefault(id(inner.body), ("step", Fields()))
                    found.nested[f"{inside}{inner.name}"] = fields
            self._find_nested(run, inside, homes, found)

    def _walk(self, node: Any, homes: dict[int, tuple[str, Fields]]) -> None:
        if isinstance(node, CommentedMap):
            kind, fields = homes.get(id(node), ("", Fields()))
            for key, value in node.items():
                name = self.own_name(key)
                if name is None:
                    self._walk(value, homes)
                else:
                    self._field(node, key, name, kind=kind, fields=fields)
        elif isinstance(node, CommentedSeq):
            for item in node:
                self._walk(item, homes)

    def own_name(self, key: str) -> str | None:
        """``boundary`` of ``sluice:boundary``; None for what is not ours."""
        for start in self.starts:
            if key.startswith(start):
                return key[len(start) :]
        return None

    def _field(self, node: CommentedMap, key: str, name: str, *, kind: str, fields: Fields) -> None:
        place = text_place(node, key)
        if (
            key.startswith(f"{PREFIX}:")
            and f"{PREFIX}:" not in self.prefixes
            and not self.undeclared
        ):
            self.undeclared = True
            self.findings.error(
                place,
                f"the prefix '{PREFIX}' is not declared: add '$namespaces: {{{PREFIX}:"
                f' "{NAMESPACE}"}}\' to the document',
            )
        if name in LATER:
            self.findings.error(place, f"'{key}' is not supported yet: {LATER[name].note}")
        elif name not in FIELDS:
            self.findings.error(
                place,
                "there is no extension field"
                f" '{key}'{did_you_mean(key, [f'{PREFIX}:{known}' for known in FIELDS])}",
            )
        elif FIELDS[name][0] != kind:
            self.findings.error(place, f"'{key}' belongs to a {FIELDS[name][0]}, not here")
        elif name in fields.values:
            self.findings.error(place, f"'{key}' stands twice here")
        else:
            value = Value(node, key, name, self)
            read = FIELDS[name][1](value)
            fields.places[name] = place
            fields.inner.update(
                {(name, inner): where for inner, where in value.inner_places().items()}
            )
            if read is not None:
                fields.values[name] = read


@dataclass(slots=True)
class Value:
    """The value of one field, with what its reader needs to complain."""

    node: CommentedMap
    key: str
    name: str
    reader: _Reader

    @property
    def written(self) -> Any:
        return self.node[self.key]

    def wrong(self, message: str, place: TextPlace | None = None) -> None:
        self.reader.findings.error(
            place or text_place(self.node, self.key), f"'{self.key}' {message}"
        )

    def mapping(self) -> CommentedMap | None:
        """The value as a mapping; else an error."""
        if isinstance(self.written, CommentedMap):
            return self.written
        self.wrong(f"is a mapping; {EXAMPLES[self.name]}")
        return None

    def plain_key(self, key: str) -> str:
        """Inner keys that are words of CWL carry the prefix, so that other runners leave them."""
        return self.reader.own_name(key) or key

    def inner_places(self) -> dict[str, TextPlace]:
        if not isinstance(self.written, CommentedMap):
            return {}
        places = {self.plain_key(key): text_place(self.written, key) for key in self.written}
        for key, inside in self.written.items():
            if isinstance(inside, CommentedMap):
                outer = self.plain_key(key)
                places |= {
                    f"{outer}.{self.plain_key(inner)}": text_place(inside, inner)
                    for inner in inside
                }
        return places


def _model(kind: type[BaseModel]) -> Callable[[Value], Any]:
    def read(value: Value) -> Any:
        written = value.mapping()
        if written is None:
            return None
        places = value.inner_places()
        given = {value.plain_key(key): plain_json(item) for key, item in written.items()}
        unknown = [key for key in given if key not in kind.model_fields]
        for key in unknown:
            if f"{value.name}.{key}" in LATER:
                value.wrong(
                    f"'{key}' is not supported yet: {LATER[f'{value.name}.{key}'].note}",
                    places[key],
                )
            else:
                value.wrong(f"knows no '{key}'{did_you_mean(key, kind.model_fields)}", places[key])
        try:
            return kind.model_validate(
                {key: item for key, item in given.items() if key not in unknown}, strict=True
            )
        except ValidationError as error:
            for each in error.errors():
                key = str(each["loc"][0]) if each["loc"] else ""
                said = sentence_of(each)
                value.wrong(
                    f"{key}: {said[0].lower()}{said[1:]}, not {plain_json(each['input'])!r}",
                    places.get(key),
                )
        return None

    return read


def _boundary(value: Value) -> Boundary | None:
    boundary: Boundary | None = _model(Boundary)(value)
    if boundary is not None and boundary.minimum > boundary.sufficient:
        value.wrong(
            f"asks for at least {boundary.minimum}, and is satisfied with less"
            f" ({boundary.sufficient})"
        )
        return None
    return boundary


def _merge(value: Value) -> MergeGroups | None:
    groups: MergeGroups | None = _model(MergeGroups)(value)
    if groups is not None and groups.files is not None and groups.bytes is not None:
        value.wrong("takes 'files' or 'bytes', not both")
        return None
    if groups is not None and groups.tree and (groups.files is None or groups.files < 2):
        value.wrong("has a tree, whose groups are of two files or more: {files: 25, tree: true}")
        return None
    return groups


def _priority(value: Value) -> int | None:
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


def _rank(value: Value) -> float | None:
    written = value.written
    if (
        isinstance(written, int | float)
        and not isinstance(written, bool)
        and 0 <= written <= 1_000_000
    ):
        return float(written)
    value.wrong("is a number from 0 to 1000000")
    return None


def _invoke(value: Value) -> bool | None:
    if value.written is True:
        return True
    value.wrong("is 'true', or left out")
    return None


def _bind(value: Value) -> dict[str, str] | None:
    written = value.mapping()
    if written is None:
        return None
    bound: dict[str, str] = {}
    for key, target in written.items():
        if isinstance(target, str) and target:
            bound[value.plain_key(key)] = target
        else:
            value.wrong(
                f"gives each parameter the name of a metadata key; {key!r} has"
                f" {plain_json(target)!r}",
                text_place(written, key),
            )
    return bound


def _match(value: Value) -> dict[str, Condition] | None:
    written = value.mapping()
    return None if written is None else _conditions(value, written)


def _conditions(value: Value, written: CommentedMap) -> dict[str, Condition]:
    """By key, of a mapping in the value; what is none is an error."""
    found: dict[str, Condition] = {}
    for key, wanted in written.items():
        condition = condition_of(wanted)
        if isinstance(condition, str):
            value.wrong(f"{key}: {condition}", text_place(written, key))
        else:
            found[value.plain_key(key)] = condition
    return found


def _require(value: Value) -> Require | None:
    written = value.mapping()
    if written is None:
        return None
    if not written:
        value.wrong(f"says nothing; {EXAMPLES[value.name]}")
    found: dict[str, Any] = {}
    for key, wanted in written.items():
        name, place = value.plain_key(key), text_place(written, key)
        if name not in Require.model_fields:
            value.wrong(f"knows no '{name}'{did_you_mean(name, Require.model_fields)}", place)
        elif name in {"meta", "parameters"}:
            if isinstance(wanted, CommentedMap) and wanted:
                found[name] = _conditions(value, wanted)
            else:
                value.wrong(f"{name}: is a mapping of names to what must hold of them", place)
        elif isinstance(amount := amount_of(wanted), str):
            value.wrong(f"{name}: {amount}", place)
        else:
            found[name] = amount
    return Require(**found)


#: Where each field belongs, and its reader: None (after an error) or the value.
FIELDS: dict[str, tuple[str, Callable[[Value], Any]]] = {
    "match": ("workflow", _match),
    "priority": ("workflow", _priority),
    "bind": ("workflow", _bind),
    "require": ("workflow", _require),
    "retention": ("workflow", _model(Retention)),
    "boundary": ("step", _boundary),
    "retry": ("step", _model(Retry)),
    "rank": ("step", _rank),
    "merge": ("step", _merge),
    "invoke": ("step", _invoke),
    "batch": ("step", _model(Batch)),
}

EXAMPLES = {
    "match": "sluice:match: {detector: spd}",
    "bind": "sluice:bind: {run_number: run}",
    "require": "sluice:require: {files: {minimum: 10}}",
    "retention": "sluice:retention: {input: keep, logs: keep}",
    "boundary": "sluice:boundary: {minimum: 0.9, sufficient: 1.0}",
    "retry": "sluice:retry: {attempts: 3, backoff: 1.0}",
    "merge": "sluice:merge: {files: 25}",
    "batch": "sluice:batch: {files: 100}",
}
