"""Random workflows over all types of CWL, with a job order for each.

Each step passes a value on and describes it in a text. Steps scatter, are conditional, or join
several sources.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

_PRIMITIVES = ("boolean", "int", "long", "float", "double", "string")
#: Describes a value without paths, which differ between runners.
_DESCRIBE = """
function describe(value) {
  if (value === null || typeof value !== "object") { return JSON.stringify(value); }
  if (Array.isArray(value)) { return "[" + value.map(describe).join(",") + "]"; }
  if (value["class"] === "File") {
    return value.basename + ":" + value.size + describe(value.secondaryFiles || []);
  }
  if (value["class"] === "Directory") { return value.basename + "/"; }
  return "{" + Object.keys(value).sort().map(function(key) {
    return key + ":" + describe(value[key]);
  }).join(",") + "}";
}
"""
_REQUIREMENTS: dict[str, Any] = {
    name: {}
    for name in (
        "InlineJavascriptRequirement",
        "MultipleInputFeatureRequirement",
        "ScatterFeatureRequirement",
        "StepInputExpressionRequirement",
    )
}


@dataclass(frozen=True, slots=True)
class TypedWorkflow:
    """A workflow and its job order. ``features`` are what its steps use."""

    document: dict[str, Any]
    order: dict[str, Any]
    features: frozenset[str]


@dataclass(slots=True)
class _WorkflowDraft:
    """A workflow that is being drawn. ``types`` are those of the sources so far."""

    inputs: dict[str, Any] = field(default_factory=dict)
    order: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, Any] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)


def make_array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def make_optional(kind: Any) -> list[Any]:
    return kind if is_optional(kind) else ["null", *(kind if isinstance(kind, list) else [kind])]


def is_optional(kind: Any) -> bool:
    return isinstance(kind, list) and "null" in kind


def _make_record(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "record", "fields": [{"name": n, "type": kind} for n, kind in fields.items()]}


def _make_enum(symbols: Sequence[str]) -> dict[str, Any]:
    return {"type": "enum", "symbols": list(symbols)}


_SIMPLE = st.sampled_from([*_PRIMITIVES, "File", "Directory"])
_ALTERNATIVES = st.sampled_from(
    [
        ["string", "File"],
        ["int", "string"],
        ["null", "boolean", "File"],
        ["Directory", "string"],
        ["int", make_array("File")],
    ]
)
TYPES: st.SearchStrategy[Any] = st.recursive(
    _SIMPLE | _ALTERNATIVES | st.just(_make_enum(["red", "green", "blue"])),
    lambda inner: (
        inner.map(make_array)
        | inner.map(make_optional)
        | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, min_size=1, max_size=3).map(
            _make_record
        )
    ),
    max_leaves=4,
).filter(lambda kind: not _has_nested_union(kind))


def _has_nested_union(kind: Any) -> bool:
    """Return whether a union has a union in it, which CWL does not allow."""
    match kind:
        case list():
            return any(isinstance(each, list) or _has_nested_union(each) for each in kind)
        case {"items": items}:
            return _has_nested_union(items)
        case {"fields": fields}:
            return any(_has_nested_union(each["type"]) for each in fields)
    return False


def draw_values(kind: Any, files: Sequence[Path]) -> st.SearchStrategy[Any]:
    """Return a strategy for values of a type, with some of the files and directories."""
    match kind:
        case list():
            return st.one_of([draw_values(each, files) for each in kind])
        case {"type": "array", "items": items}:
            # Of files with one name in a data set, each gets its number in front of the name.
            return st.lists(draw_values(items, files), max_size=3, unique_by=_make_file_key())
        case {"type": "record", "fields": fields}:
            return st.fixed_dictionaries(
                {each["name"]: draw_values(each["type"], files) for each in fields}
            )
        case {"type": "enum", "symbols": symbols}:
            return st.sampled_from(symbols)
    return _draw_simple_values(files)[kind]


def _make_file_key() -> Callable[[Any], Any]:
    """Return a function that gives equal keys to equal files only."""
    numbers = count()
    return lambda value: (
        value["location"] if isinstance(value, dict) and "location" in value else next(numbers)
    )


def _draw_simple_values(files: Sequence[Path]) -> Mapping[str, st.SearchStrategy[Any]]:
    whole, fractions = st.integers(-(2**31), 2**31 - 1), st.sampled_from([0.5, -1.25, 1e-7, 3.0])
    return {
        "null": st.none(),
        "boolean": st.booleans(),
        "int": whole,
        "long": whole,
        "float": fractions,
        "double": fractions,
        "string": st.sampled_from(["", "a b", "é", "x"]),
        "File": st.sampled_from(
            [_make_file_object("File", path) for path in files if path.is_file()]
        ),
        "Directory": st.sampled_from(
            [_make_file_object("Directory", path) for path in files if path.is_dir()]
        ),
    }


def _make_file_object(kind: str, path: Path) -> dict[str, str]:
    return {"class": kind, "location": path.as_uri()}


@st.composite
def draw_typed_workflow(
    draw: Callable[[st.SearchStrategy[Any]], Any], files: Sequence[Path]
) -> TypedWorkflow:
    """Draw a workflow and a job order with some of the files and directories."""
    draft = _WorkflowDraft()
    for number in range(draw(st.integers(1, 3))):
        kind = draw(TYPES)
        draft.inputs[f"in{number}"] = {"type": kind}
        draft.types[f"in{number}"] = kind
        value = draw(draw_values(kind, files))
        if value is not None:
            draft.order[f"in{number}"] = value
    for number in range(draw(st.integers(1, 3))):
        _add_step(draw, draft, f"step{number}")
    sources = {f"{step}_{port}": f"{step}/{port}" for step in draft.steps for port in ("o", "d")}
    outputs = {
        name: {"type": draft.types[source], "outputSource": source}
        for name, source in sources.items()
    }
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "requirements": _REQUIREMENTS,
        "inputs": draft.inputs,
        "outputs": outputs,
        "steps": draft.steps,
    }
    return TypedWorkflow(document, draft.order, frozenset(draft.features))


def _add_step(
    draw: Callable[[st.SearchStrategy[Any]], Any], draft: _WorkflowDraft, name: str
) -> None:
    source = draw(st.sampled_from(sorted(draft.types)))
    kind = draft.types[source]
    link: dict[str, Any] = {"source": source}
    body: dict[str, Any] = {"in": {"v": link}, "out": ["o", "d"]}
    is_list = isinstance(kind, dict) and kind.get("type") == "array"
    feature = draw(st.sampled_from(["plain", "scatter", "when", "join", "pick", "value"]))
    out: Callable[[Any], Any] = lambda each: each  # noqa: E731 - replaced below
    if feature == "scatter" and is_list:
        kind, body["scatter"], out = kind["items"], "v", make_array
    elif feature == "when":
        body["in"]["go"] = {"default": draw(st.booleans())}
        body["when"], out = "$(inputs.go)", make_optional
    elif feature == "join":
        others = [each for each in draft.types if draft.types[each] == kind]
        link["source"] = [source, draw(st.sampled_from(sorted(others)))]
        if is_list and draw(st.booleans()):
            link["linkMerge"] = "merge_flattened"
        else:
            kind = make_array(kind)
    elif feature == "pick" and is_optional(kind):
        rest = [each for each in kind if each != "null"]
        link["source"], link["pickValue"] = [source, source], "all_non_null"
        kind = make_array(rest[0] if len(rest) == 1 else rest)
    elif feature == "value":
        link["valueFrom"] = "$(self)"
    else:
        feature = "plain"
    draft.features.add(feature)
    body["run"] = _make_tool(kind)
    draft.steps[name] = body
    draft.types[f"{name}/o"] = out(kind)
    draft.types[f"{name}/d"] = out("string")


def _make_tool(kind: Any) -> dict[str, Any]:
    """Return a tool that passes a value on and describes it."""
    return {
        "class": "ExpressionTool",
        "requirements": {"InlineJavascriptRequirement": {"expressionLib": [_DESCRIBE]}},
        "inputs": {"v": {"type": kind}},
        "outputs": {"o": {"type": kind}, "d": {"type": "string"}},
        "expression": "${return {o: inputs.v, d: describe(inputs.v)};}",
    }
