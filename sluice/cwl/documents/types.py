"""CWL types as plain JSON: expanded, compared and displayed.

A type is a name (``int``), ``{"type": "array", "items": T}``, another structure (record, enum), or
a list of alternative types.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

ARRAY_OF_FILES = {"type": "array", "items": "File"}
ARRAY_OF_DIRECTORIES = {"type": "array", "items": "Directory"}
PRIMITIVES = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "string", "File", "Directory", "Any"}
)
#: Types that stand for a file that the tool reads or writes as a stream.
STREAMS = frozenset({"stdin", "stdout", "stderr"})
#: The most levels of arrays and records in a type. The libraries' cost may double with each.
MAX_TYPE_LEVELS = 10
_WIDER = {"int": {"long", "float", "double"}, "long": {"float", "double"}, "float": {"double"}}

Fit = Literal["fits", "may not fit", "does not fit"]


def normal_type(declaration: Any) -> Any:
    """Return the long form of a type.

    ``File[]?`` becomes ``["null", {"type": "array", "items": "File"}]``.
    """
    match declaration:
        case str():
            return _from_short_form(declaration)
        case Mapping():
            kind = declaration.get("type")
            if kind == "array":
                return {"type": "array", "items": normal_type(declaration.get("items"))}
            if kind in ("record", "enum"):
                return dict(declaration)
            return normal_type(kind)
        case list():
            return _union([normal_type(member) for member in declaration])
    return "Any"


def _from_short_form(name: str) -> Any:
    if name.endswith("?"):
        return _union(["null", normal_type(name[:-1])])
    if name.endswith("[]"):
        return {"type": "array", "items": normal_type(name[:-2])}
    return "File" if name in STREAMS else name


def _union(members: list[Any]) -> Any:
    alternatives: list[Any] = []
    for member in members:
        for alternative in member if isinstance(member, list) else [member]:
            if alternative not in alternatives:
                alternatives.append(alternative)
    return alternatives[0] if len(alternatives) == 1 else alternatives


def type_alternatives(kind: Any) -> list[Any]:
    """Return the alternatives of a type."""
    return kind if isinstance(kind, list) else [kind]


def is_optional(kind: Any) -> bool:
    """Return whether null is among the alternatives of a type."""
    return "null" in type_alternatives(kind)


def may_be_null(kind: Any) -> bool:
    """Return whether a value of the type may be null or contain null. Unknown types may."""
    names = type_names(kind)
    return bool(names & {"null", "Any"} or names - PRIMITIVES)


def without_null(kind: Any) -> Any:
    """Return the type without null among its alternatives."""
    return (
        _union([member for member in type_alternatives(kind) if member != "null"])
        if is_optional(kind) and kind != "null"
        else kind
    )


def array_of(kind: Any, depth: int = 1) -> Any:
    """Return an array type of the items, nested ``depth`` times."""
    return {"type": "array", "items": array_of(kind, depth - 1)} if depth else kind


def is_list(kind: Any) -> bool:
    """Return whether the type is an array."""
    return isinstance(kind, dict) and kind.get("type") == "array"


def contains_files(kind: Any) -> bool:
    """Return whether the type contains File or Directory."""
    match kind:
        case "File" | "Directory":
            return True
        case {"type": "array", "items": items}:
            return contains_files(items)
        case {"type": "record", "fields": Mapping() as fields}:
            return any(contains_files(normal_type(field)) for field in fields.values())
        case {"type": "record", "fields": list() as fields}:
            return any(
                contains_files(normal_type(field.get("type")))
                for field in fields
                if isinstance(field, Mapping)
            )
        case list():
            return any(contains_files(member) for member in kind)
    return False


def type_names(kind: Any) -> set[str]:
    """Return the names in a type.

    ``["null", {"type": "array", "items": "int"}]`` has ``null`` and ``int``.
    """
    match kind:
        case str():
            return {kind}
        case {"type": "array", "items": items}:
            return type_names(items)
        case list():
            return set().union(*(type_names(member) for member in kind))
    return set()


def fit(source: Any, sink: Any) -> Fit:
    """Return whether all, some or no values of type ``source`` fit ``sink``."""
    results = [
        any(_fits(source_type, sink_type) for sink_type in type_alternatives(sink))
        for source_type in type_alternatives(source)
    ]
    if all(results):
        return "fits"
    partial_fits = [
        _may_fit(source_type, sink_type)
        for source_type in type_alternatives(source)
        if source_type != "null"
        for sink_type in type_alternatives(sink)
    ]
    return "may not fit" if any(partial_fits) else "does not fit"


def _fits(source: Any, sink: Any) -> bool:
    match source, sink:
        case ("Any", _) | (_, "Any"):
            return bool(source != "null")
        case str(), str():
            return (
                source == sink
                or sink in _WIDER.get(source, ())
                or _is_named_type(source)
                or _is_named_type(sink)
            )
        case {"type": "array", "items": source_items}, {"type": "array", "items": sink_items}:
            return fit(source_items, sink_items) == "fits"
        case ({"type": "enum" | "record" as kind}, {"type": "enum" | "record" as other}):
            return bool(kind == other)
    return _is_named_type(source) or _is_named_type(sink)


def _is_named_type(kind: Any) -> bool:
    """Return whether the type is a named one (SchemaDefRequirement), which cwltool checks."""
    return isinstance(kind, str) and kind not in PRIMITIVES


def _may_fit(source: Any, sink: Any) -> bool:
    match source, sink:
        case {"type": "array", "items": source_items}, {"type": "array", "items": sink_items}:
            return fit(source_items, sink_items) != "does not fit"
    return _fits(source, sink)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any, bits: int) -> bool:
    return (
        isinstance(value, int) and not isinstance(value, bool) and -(1 << bits) <= value < 1 << bits
    )


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "int": lambda value: _is_integer(value, 31),
    "long": lambda value: _is_integer(value, 63),
    "float": _is_number,
    "double": _is_number,
    "string": lambda value: isinstance(value, str),
    "File": lambda value: isinstance(value, Mapping),
    "Directory": lambda value: isinstance(value, Mapping),
}


def value_fits(value: Any, kind: Any) -> bool:
    """Return whether a default is of a type.

    Named types and the insides of records and files are left to cwltool.
    """
    match kind:
        case list():
            return any(value_fits(value, member) for member in kind)
        case str():
            return kind not in _CHECKS or _CHECKS[kind](value)
        case {"type": "array", "items": items}:
            return isinstance(value, list) and all(value_fits(item, items) for item in value)
        case {"type": "enum", "symbols": list() as symbols}:
            return isinstance(value, str) and value in {
                str(symbol).rsplit("#")[-1].rsplit("/")[-1] for symbol in symbols
            }
        case {"type": "record"}:
            return isinstance(value, Mapping)
    return True


def short_form(kind: Any) -> str:
    """Return the type in CWL's short form."""
    match kind:
        case str():
            return kind
        case {"type": "array", "items": items}:
            inner = short_form(items)
            return (
                f"{inner}[]" if isinstance(items, str) or inner.endswith("[]") else f"({inner})[]"
            )
        case list() if "null" in kind and len(kind) == 2:
            return f"{short_form(without_null(kind))}?"
        case list():
            return " or ".join(short_form(member) for member in kind)
        case {"type": str() as name}:
            return name
    return "a type that is not CWL"
