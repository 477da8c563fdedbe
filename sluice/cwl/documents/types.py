"""CWL types as plain JSON: the short forms written out, compared and shown.

A type is a name (``int``), ``{"type": "array", "items": T}``, another structure (record, enum), or
a list of types (one of them).
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

ARRAY_OF_FILES = {"type": "array", "items": "File"}
ARRAY_OF_DIRECTORIES = {"type": "array", "items": "Directory"}
PRIMITIVES = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "string", "File", "Directory", "Any"}
)
#: These stand for a file that the tool reads or writes as a stream.
STREAMS = frozenset({"stdin", "stdout", "stderr"})
#: Levels of arrays and records in a type: what libraries do with it may double with each.
MAX_TYPE_LEVELS = 10
_WIDER = {"int": {"long", "float", "double"}, "long": {"float", "double"}, "float": {"double"}}

Fit = Literal["fits", "may not fit", "does not fit"]


def normal_type(written: Any) -> Any:
    """The type written out: ``File[]?`` is ``["null", {"type": "array", "items": "File"}]``."""
    match written:
        case str():
            return _from_short_form(written)
        case Mapping():
            kind = written.get("type")
            if kind == "array":
                return {"type": "array", "items": normal_type(written.get("items"))}
            if kind in ("record", "enum"):
                return dict(written)
            return normal_type(kind)
        case list():
            return _union([normal_type(member) for member in written])
    return "Any"


def _from_short_form(name: str) -> Any:
    if name.endswith("?"):
        return _union(["null", normal_type(name[:-1])])
    if name.endswith("[]"):
        return {"type": "array", "items": normal_type(name[:-2])}
    return "File" if name in STREAMS else name


def _union(members: list[Any]) -> Any:
    flat: list[Any] = []
    for member in members:
        for each in member if isinstance(member, list) else [member]:
            if each not in flat:
                flat.append(each)
    return flat[0] if len(flat) == 1 else flat


def members_of(kind: Any) -> list[Any]:
    return kind if isinstance(kind, list) else [kind]


def is_optional(kind: Any) -> bool:
    return "null" in members_of(kind)


def may_be_null(kind: Any) -> bool:
    """Can a value of the type be null, or hold some? Where that is not known, it can."""
    names = type_names(kind)
    return bool(names & {"null", "Any"} or names - PRIMITIVES)


def without_null(kind: Any) -> Any:
    return (
        _union([member for member in members_of(kind) if member != "null"])
        if is_optional(kind) and kind != "null"
        else kind
    )


def array_of(kind: Any, depth: int = 1) -> Any:
    """``depth``: of lists, one within the other."""
    return {"type": "array", "items": array_of(kind, depth - 1)} if depth else kind


def is_list(kind: Any) -> bool:
    return isinstance(kind, dict) and kind.get("type") == "array"


def holds_files(kind: Any) -> bool:
    """Does a File or Directory stand anywhere in the type?"""
    match kind:
        case "File" | "Directory":
            return True
        case {"type": "array", "items": items}:
            return holds_files(items)
        case {"type": "record", "fields": Mapping() as fields}:
            return any(holds_files(normal_type(field)) for field in fields.values())
        case {"type": "record", "fields": list() as fields}:
            return any(
                holds_files(normal_type(field.get("type")))
                for field in fields
                if isinstance(field, Mapping)
            )
        case list():
            return any(holds_files(member) for member in kind)
    return False


def type_names(kind: Any) -> set[str]:
    """The names in a type: ``["null", {"type": "array", "items": "int"}]`` has ``null`` and
    ``int``."""
    match kind:
        case str():
            return {kind}
        case {"type": "array", "items": items}:
            return type_names(items)
        case list():
            return set().union(*(type_names(member) for member in kind))
    return set()


def fit(source: Any, sink: Any) -> Fit:
    """May a value of type ``source`` go where ``sink`` is taken? Always, for some of its values, or
    never."""
    results = [
        any(_fits(given, taken) for taken in members_of(sink)) for given in members_of(source)
    ]
    if all(results):
        return "fits"
    partly = [
        _may_fit(given, taken)
        for given in members_of(source)
        if given != "null"
        for taken in members_of(sink)
    ]
    return "may not fit" if any(partly) else "does not fit"


def _fits(source: Any, sink: Any) -> bool:
    match source, sink:
        case ("Any", _) | (_, "Any"):
            return bool(source != "null")
        case str(), str():
            return (
                source == sink
                or sink in _WIDER.get(source, ())
                or _is_name(source)
                or _is_name(sink)
            )
        case {"type": "array", "items": given}, {"type": "array", "items": taken}:
            return fit(given, taken) == "fits"
        case ({"type": "enum" | "record" as kind}, {"type": "enum" | "record" as other}):
            return bool(kind == other)
    return _is_name(source) or _is_name(sink)


def _is_name(kind: Any) -> bool:
    """A type defined elsewhere (SchemaDefRequirement); cwltool's own check knows it."""
    return isinstance(kind, str) and kind not in PRIMITIVES


def _may_fit(source: Any, sink: Any) -> bool:
    match source, sink:
        case {"type": "array", "items": given}, {"type": "array", "items": taken}:
            return fit(given, taken) != "does not fit"
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
    """Is ``value`` (a default) of this type? Named types, and what is inside records and files, are
    left to cwltool."""
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
    """The type in CWL's short form."""
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
