"""The fields that a form has for CWL types."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sluice.contracts.templates.plan import DIRECTORIES, FILES, Parameter
from sluice.contracts.templates.secondary_files import record_fields
from sluice.text.identifiers import local_name

#: Records within records that are groups of fields. Deeper records are JSON.
MAX_GROUP_DEPTH = 3


class FieldKind(StrEnum):
    """The kind of input for a value."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    CHOICE = "choice"
    FILE = "file"
    FILES = "files"
    LINES = "lines"
    UNION = "union"
    GROUP = "group"
    JSON = "json"


_KINDS = {
    "int": FieldKind.INTEGER, "long": FieldKind.INTEGER,
    "float": FieldKind.NUMBER, "double": FieldKind.NUMBER,
    "string": FieldKind.TEXT,
    "boolean": FieldKind.TRUTH,
    "File": FieldKind.FILE, "Directory": FieldKind.FILE,
}  # fmt: skip

#: Kinds whose values are short texts.
_SIMPLE = {
    FieldKind.INTEGER, FieldKind.NUMBER, FieldKind.TEXT, FieldKind.TRUTH, FieldKind.CHOICE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FieldType:
    """How a value of a CWL type is entered.

    Attributes:
        cwl: The CWL type, without null.
        optional: Whether null is among the alternatives of the type.
        choices: The symbols of an enumeration.
        alternatives: The types of a union in the order in which they are tried, or the type of the
            items of a list.
        fields: The fields of a record.
        takes_dataset: Whether the uid of a data set is an alternative to the value.
    """

    kind: FieldKind
    cwl: Any
    optional: bool = False
    choices: tuple[str, ...] = ()
    alternatives: tuple["FieldType", ...] = ()
    fields: tuple["RecordField", ...] = ()
    takes_dataset: bool = False


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of a record type; ``cwl`` is its type as declared."""

    name: str
    type: FieldType
    cwl: Any
    doc: str = ""


def describe_parameter(parameter: Parameter) -> FieldType:
    """Return how the value of a parameter is entered.

    A value with files in it is a data set of one bundle. A value without files is entered itself.
    """
    if parameter.is_bundle:
        plain = _without_files(parameter.type)
        if plain is None:
            return FieldType(FieldKind.FILES, parameter.type)
        described = replace(describe_type(plain), takes_dataset=True)
        if described.kind not in _SIMPLE:
            return described
        return FieldType(FieldKind.UNION, plain, alternatives=(described,), takes_dataset=True)
    if parameter.type in (FILES, DIRECTORIES) or parameter.entry_per_item:
        return FieldType(FieldKind.FILES, parameter.type)
    return describe_type(parameter.type)


def describe_type(kind: Any, *, depth: int = MAX_GROUP_DEPTH) -> FieldType:
    """Return how a value of a CWL type is entered.

    Args:
        kind: The CWL type.
        depth: The number of records within one another that may be groups.
    """
    alternatives = list_alternatives(kind)
    others = [alternative for alternative in alternatives if alternative != "null"]
    optional = len(others) < len(alternatives)
    types = [_describe_single(other, depth) for other in others]
    if len(types) == 1:
        return replace(types[0], optional=optional)
    if types and all(described.kind in _SIMPLE for described in types):
        ordered = sorted(types, key=lambda described: described.kind is FieldKind.TEXT)
        return FieldType(FieldKind.UNION, others, optional, alternatives=tuple(ordered))
    return FieldType(FieldKind.JSON, others, optional)


def _describe_single(kind: Any, depth: int) -> FieldType:
    """Return how a value of a type that is no union is entered."""
    match kind:
        case str() if kind in _KINDS:
            return FieldType(_KINDS[kind], kind)
        case {"type": "enum", "symbols": [*symbols]}:
            return FieldType(FieldKind.CHOICE, kind, choices=tuple(map(local_name, symbols)))
        case {"type": "array", "items": items}:
            item = describe_type(items, depth=0)
            short = item.kind in {*_SIMPLE, FieldKind.UNION, FieldKind.FILE}
            if short and not item.optional:
                return FieldType(FieldKind.LINES, kind, alternatives=(item,))
        case {"type": "record", "fields": list() | dict()} if depth:
            if fields := _describe_fields(kind, depth - 1):
                return FieldType(FieldKind.GROUP, kind, fields=fields)
    return FieldType(FieldKind.JSON, kind)


def _describe_fields(record: Mapping[str, Any], depth: int) -> tuple[RecordField, ...]:
    docs = _read_docs(record["fields"])
    return tuple(
        RecordField(name, describe_type(kind, depth=depth), kind, docs.get(name, ""))
        for name, (kind, _) in record_fields(record).items()
    )


def _read_docs(fields: Any) -> dict[str, str]:
    """Return the documentation of each field of a record: its ``doc``, else its ``label``."""
    if isinstance(fields, Mapping):
        bodies = [(name, body) for name, body in fields.items() if isinstance(body, Mapping)]
    else:
        bodies = [(local_name(body["name"]), body) for body in fields]
    return {name: _read_doc(body.get("doc") or body.get("label") or "") for name, body in bodies}


def _read_doc(doc: Any) -> str:
    return "\n".join(map(str, doc)) if isinstance(doc, list) else str(doc).strip()


def list_alternatives(kind: Any) -> list[Any]:
    """Return the alternatives of a CWL type, with null if it is optional.

    Short forms such as ``int[]?`` are written out.
    """
    match kind:
        case list():
            return [each for alternative in kind for each in list_alternatives(alternative)]
        case str() if kind.endswith("?"):
            return ["null", *list_alternatives(kind[:-1])]
        case str() if kind.endswith("[]"):
            return [{"type": "array", "items": kind[:-2]}]
        case {"type": "array" | "record" | "enum"}:
            return [kind]
        case {"type": inner}:
            return list_alternatives(inner)
    return [kind]


def _without_files(kind: Any) -> Any:
    """Return the type of the values without files, or None if all values have files."""
    plain = [
        reduced
        for alternative in list_alternatives(kind)
        if (reduced := _without_files_in(alternative)) is not None
    ]
    if not set(map(str, plain)) - {"null"}:
        return None
    return plain[0] if len(plain) == 1 else plain


def _without_files_in(kind: Any) -> Any:
    """Return a type that is no union without files, or None if all its values have files."""
    match kind:
        case "File" | "Directory":
            return None
        case {"type": "array", "items": items}:
            plain = _without_files(items)
            return None if plain is None else {**kind, "items": plain}
        case {"type": "record", "fields": list() | dict()}:
            return _record_without_files(kind)
    return kind


def _record_without_files(record: Mapping[str, Any]) -> Any:
    """Return the record type without its fields of files, or None if a file is required."""
    docs = _read_docs(record["fields"])
    fields = {}
    for name, (kind, _) in record_fields(record).items():
        plain = _without_files(kind)
        if plain is not None:
            fields[name] = {"type": plain, "doc": docs.get(name, "")}
        elif "null" not in list_alternatives(kind):
            return None
    return {**record, "fields": fields}
