"""Random mutations of real templates."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from tests.unit.cwl.samples import GRAPH, LINEAR
from tests.wrong.table import read_wrong_templates

_WORDS = """null ~ true [] {} 5 -1 1.5 "" [null] [[]] ' " # % @ = << --- | > *x &x ._ 0o_ -.5 1e999
    .inf .nan 9223372036854775808 2001-01-01 !!str $(x) #main / a/b/c ../x x#y http://x file:///x
    count/number $import $include $graph sluice:merge File File[] File[]? File[][] Any stdin stdout
    array record enum int[] string? []? ?? first_non_null merge_flattened dotproduct é 😀"""
_NAMES = "x a/b a#b # / #main $(x) $(inputs ${ File File[] [] a?b http://x"
#: Text that is inserted into a template or replaces a part of its text.
PIECES = [
    *_WORDS.split(),
    "? ",
    "- ",
    ": ",
    "\t",
    " ",
    "\n",
    "\r",
    "\ufeff",
    "\u2028",
    "\ud800",
    "\0",
    "x" * 300,
    "[a, b]",
    "{a: {b: []}}",
    "!!float x",
    "!!int ''",
    "!x y",
    "&a [*a]",
    "${return 1;}",
    "{class: File}",
    "{class: Workflow}",
    "{type: array, items: File}",
    "{type: record, fields: []}",
    "{type: enum, symbols: []}",
]
#: Values that replace a value of a template.
VALUES: list[Any] = [
    *_NAMES.split(),
    None,
    True,
    False,
    0,
    -1,
    5,
    1.5,
    2**70,
    -(2**63),
    1e308,
    "",
    "x" * 300,
    [],
    {},
    [[]],
    [None],
    [{}],
    ["x", "x"],
    {"": ""},
    {"": {}},
    {"a": None},
    {"id": 5},
    {"id": []},
    [{"id": {}}],
    {"$import": "x"},
    {"expression": "x"},
    {"class": "File"},
    {"class": None},
    {"class": []},
    {"class": "Workflow"},
    {"class": "Operation", "inputs": [], "outputs": []},
    {"type": "array"},
    {"type": {"type": "array", "items": "File"}},
    {"type": "record", "fields": {}},
]

Files = dict[str, str | bytes]


def _read_templates() -> list[tuple[dict[str, str], str]]:
    """Return valid and invalid templates, each with its main file."""
    templates = [(template.files, template.main) for template in read_wrong_templates().values()]
    folder = Path(__file__).parents[2] / "differential" / "templates"
    others = {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in sorted((folder / "parts").rglob("*.*ml"))
    }
    others |= {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in sorted((folder / "parts").rglob("*.cwl"))
    }
    for file in sorted(folder.glob("*.cwl")):
        text = file.read_text()
        templates.append(({file.name: text} | (others if "parts/" in text else {}), file.name))
    return [*templates, ({"linear.cwl": LINEAR}, "linear.cwl"), ({"graph.cwl": GRAPH}, "graph.cwl")]


REAL = _read_templates()


def _parse_yaml(text: str) -> Any:
    """Parse YAML and resolve its aliases; return None if this is impossible."""
    try:
        return json.loads(json.dumps(yaml.load(text, yaml.CSafeLoader), default=str))
    except (yaml.YAMLError, LookupError, TypeError, ValueError, RecursionError):
        return None


def _list_nodes(node: Any) -> Iterator[Any]:
    yield node
    for inner in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from _list_nodes(inner)


_NODES = [
    node for files, _ in REAL for text in files.values() for node in _list_nodes(_parse_yaml(text))
]
_KEYS = sorted(
    {key for node in _NODES if isinstance(node, dict) for key in node if isinstance(key, str)}
)


def _wrap_deeper(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


_pieces = st.sampled_from(PIECES) | st.text(max_size=4)
_keys = st.sampled_from(_KEYS)
#: Plain values, values of other templates, and values in deeply nested lists.
_values = st.one_of(
    st.sampled_from(VALUES),
    st.sampled_from(_NODES),
    st.builds(_wrap_deeper, st.sampled_from(VALUES), st.integers(1, 70)),
)


@st.composite
def _draw_changed_text(draw: st.DrawFn, text: str) -> str:
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        return text[:at] + draw(_pieces) + text[at + draw(st.integers(0, 60)) :]
    rows = text.split("\n")
    row, other = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, len(rows) - 1))
    key, colon, value = rows[row].partition(":")
    indent = " " * (len(key) - len(key.lstrip()))
    changes: list[Callable[[], list[str]]] = [
        lambda: [key + colon + " " + draw(_pieces)],
        lambda: [indent + draw(_keys) + colon + value],
        lambda: [],
        lambda: [rows[row], rows[row]],
        lambda: [rows[other]],
        lambda: ["  " + rows[row]],
        lambda: [rows[row][2:]],
    ]
    return "\n".join([*rows[:row], *draw(st.sampled_from(changes))(), *rows[row + 1 :]])


def _list_places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) of every value within ``node``."""
    for key in (
        list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    ):
        yield node, key
        yield from _list_places(node[key])


@st.composite
def _draw_changed_values(draw: st.DrawFn, text: str) -> str:
    root = _parse_yaml(text)
    if not isinstance(root, dict | list) or not root:
        return str(draw(_draw_changed_text(text)))
    places = list(_list_places(root))
    holder, key = places[draw(st.integers(0, len(places) - 1))]
    other, name = places[draw(st.integers(0, len(places) - 1))]
    old, new = holder[key], draw(_values)
    match draw(
        st.sampled_from(["replaced", "removed", "renamed", "listed", "wrapped", "added", "copied"])
    ):
        case "removed":
            del holder[key]
        case "renamed" if isinstance(holder, dict):
            holder[draw(_keys)] = holder.pop(key)
        case "listed":
            holder[key] = [old]
        case "wrapped":
            holder[key] = {draw(_keys): old}
        case "added" if isinstance(holder, dict):
            holder[draw(_keys)] = new
        case "added":
            holder.insert(key, new)
        case "copied":
            holder[key] = json.loads(json.dumps(other[name]))
        case _:
            holder[key] = new
    return json.dumps(root, indent=1)


@st.composite
def draw_upload(draw: st.DrawFn) -> tuple[Files, str | None]:
    """Draw the files of an upload, and the name of its main file."""
    real, main = draw(st.sampled_from(REAL))
    files = dict[str, str | bytes](real)
    for _ in range(draw(st.integers(1, 3))):
        name = main if draw(st.booleans()) else draw(st.sampled_from(sorted(real)))
        text = files[name]
        if isinstance(text, str):
            files[name] = draw(_draw_changed_values(text) | _draw_changed_text(text))
    if draw(st.integers(0, 30)) == 0:
        files[draw(_pieces)] = draw(st.binary(max_size=20) | _pieces)
    return files, draw(st.sampled_from([main, main, main, None, "x"]))
