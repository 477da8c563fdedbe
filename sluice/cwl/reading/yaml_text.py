"""Reading of YAML or JSON text into ruamel's commented containers.

Every node has its place, and no text can make reading slow. The events come from libyaml, which is
many times faster than a parser in Python. Scalars follow YAML 1.2, as in CWL and cwltool.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import yaml
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.features import INPUTS
from sluice.cwl.reading.findings import START, Findings, TextPlace, TooManyErrors
from sluice.cwl.reading.plain_values import CORE_TAG, plain_value
from sluice.text.visible_text import REORDERING, quoted

#: The limit of a text in bytes of UTF-8.
MAX_BYTES = 2 * 1024 * 1024
#: The limit of values in a document. Aliases count as what they repeat. A step has about 100.
MAX_NODES = 100_000
#: The limit of values in all files that are read, even if they are not part of the template. Each
#: value takes up to a thousand bytes.
MAX_TOTAL_NODES = 4 * MAX_NODES
#: The limit of entries in one list or mapping.
MAX_ENTRIES = 1_000
MAX_DEPTH = 64

#: The YAML merge key.
_MERGE = "<<"
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_REORDERING = re.compile(f"[{''.join(REORDERING)}]")
_YAML_NAMES = {bool: "bool", int: "int", float: "float", type(None): "null", str: "str"}


class UnreadableError(Exception):
    """The text cannot be read. ``place`` is where reading stopped."""

    def __init__(self, place: TextPlace, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.message = message


@dataclass(slots=True)
class ValueBudget:
    """The number of values that may still be read from texts that belong together."""

    remaining: int = MAX_TOTAL_NODES

    def take(self, nodes: int) -> bool:
        """Use up part of the budget, and return whether it suffices."""
        self.remaining -= nodes
        return self.remaining >= 0


def read_text(text: str, findings: Findings, budget: ValueBudget | None = None) -> Any:
    """Return the one document in ``text``, or None after an error.

    Args:
        text: YAML or JSON.
        findings: Gets the errors.
        budget: The budget for this and other texts. By default the text has its own budget.
    """
    try:
        _check_size(text)
        _check_order(text)
        return _Builder(findings, ValueBudget() if budget is None else budget).build(text)
    except UnreadableError as error:
        findings.error(error.place, error.message)
    except TooManyErrors:
        pass
    except yaml.MarkedYAMLError as error:
        findings.error(
            _mark(error.problem_mark or error.context_mark), f"not YAML: {_sentence(error)}"
        )
    except yaml.reader.ReaderError as error:
        findings.error(
            place_at(text, _characters(text, error.position)),
            f"not text: the character {quoted(error.character)} is not allowed in YAML",
        )
    return None


def _check_size(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise UnreadableError(
            place_at(text, error.start), "not text: these bytes are not valid UTF-8"
        ) from error
    if size > MAX_BYTES:
        raise UnreadableError(
            START,
            f"{size} bytes are too many for a template: at most {MAX_BYTES} (2 MiB) are read",
        )
    if not text.strip():
        raise UnreadableError(START, "the text is empty: a CWL Workflow is expected")
    nul = text.find("\0")
    if nul >= 0:
        raise UnreadableError(place_at(text, nul), "not text: there is a NUL character")


def _check_order(text: str) -> None:
    """Refuse characters that display text in another order, because it could not be reviewed."""
    match = _REORDERING.search(text)
    if match is not None:
        code = f"{ord(match[0]):04X}"
        raise UnreadableError(
            place_at(text, match.start()),
            f"the character U+{code} changes the order in which the following text is displayed:"
            f' remove it, or write "\\u{code}" where a value needs it',
        )


def place_at(text: str, offset: int) -> TextPlace:
    """Return the place of an offset in characters."""
    preceding_text = text[:offset]
    return TextPlace(preceding_text.count("\n") + 1, offset - (preceding_text.rfind("\n") + 1) + 1)


def _characters(text: str, position: int) -> int:
    """Return the offset in characters of a libyaml offset, which is in bytes."""
    return len(text.encode()[:position].decode(errors="ignore"))


def _mark(mark: Any) -> TextPlace:
    return TextPlace(mark.line + 1, mark.column + 1) if mark is not None else START


def _sentence(error: yaml.MarkedYAMLError) -> str:
    parts = [part for part in (error.context, error.problem) if part]
    return ", ".join(parts) or "it cannot be read"


class _Builder:
    """Builds the document from events.

    An anchor is kept with its number of values, because aliases count as what they repeat.
    """

    def __init__(self, findings: Findings, budget: ValueBudget) -> None:
        self.findings = findings
        self.budget = budget
        self.nodes = 0
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open_containers: list[_Container] = []
        self.root: Any = None

    def build(self, text: str) -> Any:
        """Return the document of a text."""
        documents = 0
        for event in yaml.parse(text, Loader=_LOADER):
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise UnreadableError(
                            _mark(event.start_mark),
                            "a second YAML document starts here; a template is one document",
                        )
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    self._start(event)
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    self._end()
                case yaml.ScalarEvent():
                    place = _mark(event.start_mark)
                    value = self._value(event, place)
                    if event.anchor:
                        self.anchors[event.anchor] = (value, 1)
                    self._count(1, place)
                    self._add(value, place)
                case yaml.AliasEvent():
                    self._alias(event)
        return self.root

    def _count(self, nodes: int, place: TextPlace) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise UnreadableError(
                place, f"more than {MAX_NODES} values up to here: too many for a template"
            )
        if not self.budget.take(nodes):
            message = f"more than {MAX_TOTAL_NODES} values in all files up to here"
            raise UnreadableError(place, f"{message}: leave out what the template does not need")

    def _start(self, event: Any) -> None:
        place = _mark(event.start_mark)
        if len(self.open_containers) >= MAX_DEPTH:
            raise UnreadableError(
                place, f"more than {MAX_DEPTH} levels of nesting: too deep for a template"
            )
        if event.tag not in (None, "!", CORE_TAG + "map", CORE_TAG + "seq"):
            raise UnreadableError(place, f"the YAML tag {quoted(event.tag)} is not allowed in CWL")
        node = CommentedMap() if isinstance(event, yaml.MappingStartEvent) else CommentedSeq()
        node.lc.line, node.lc.col = place[0] - 1, place[1] - 1
        node.lc.data = {}
        node.lc.filename = self.findings.file
        self._count(1, place)
        self.open_containers.append(_Container(node, place, event.anchor, self.nodes - 1))

    def _end(self) -> None:
        container = self.open_containers.pop()
        container.close()
        if container.anchor:
            self.anchors[container.anchor] = (container.node, self.nodes - container.nodes_before)
        self._add(container.node, container.place)

    def _alias(self, event: Any) -> None:
        place = _mark(event.start_mark)
        if any(container.anchor == event.anchor for container in self.open_containers):
            raise UnreadableError(place, f"the alias '*{event.anchor}' refers to itself")
        if event.anchor not in self.anchors:
            raise UnreadableError(
                place, f"the alias '*{event.anchor}' refers to an anchor that does not exist"
            )
        value, size = self.anchors[event.anchor]
        self._count(size, place)
        self._add(value, place)

    def _add(self, value: Any, place: TextPlace) -> None:
        if self.open_containers:
            self.open_containers[-1].add(value, place, self.findings)
        else:
            self.root = value

    def _value(self, event: Any, place: TextPlace) -> Any:
        """Return the value of a scalar, or a placeholder after an error."""
        try:
            value = self._scalar(event, place)
        except ValueError:
            self.findings.error(
                place,
                f"{quoted(event.value)} looks like a number to YAML, but is not one; quote it if it"
                " is text",
            )
            return event.value
        if _is_storable(value):
            return value
        self.findings.error(place, f"{quoted(event.value)} {_why_not_storable(value)}")
        return 0

    def _scalar(self, event: Any, place: TextPlace) -> Any:
        if event.tag in (None, "!") or not event.tag.startswith(CORE_TAG):
            if event.tag not in (None, "!"):
                raise UnreadableError(
                    place, f"the YAML tag {quoted(event.tag)} is not allowed in CWL"
                )
            return (
                plain_value(event.value) if event.implicit[0] and event.tag is None else event.value
            )
        if event.tag == CORE_TAG + "str":
            return event.value
        value = plain_value(event.value)
        if f"{CORE_TAG}{_YAML_NAMES.get(type(value))}" != event.tag:
            raise UnreadableError(
                place, f"{quoted(event.value)} does not match its YAML tag {quoted(event.tag)}"
            )
        return value


class _Container:
    """A mapping or sequence that is being filled."""

    def __init__(self, node: Any, place: TextPlace, anchor: str | None, nodes_before: int) -> None:
        self.node = node
        self.place = place
        self.anchor = anchor
        self.nodes_before = nodes_before
        self.key: str | None = None
        self.key_place: TextPlace | None = None
        self.merged_mappings: list[CommentedMap] = []
        self.merge_line: int | None = None

    def add(self, value: Any, place: TextPlace, findings: Findings) -> None:
        """Add an item, a key or a value."""
        if len(self.node) >= MAX_ENTRIES:
            raise UnreadableError(
                place,
                f"more than {MAX_ENTRIES} entries in one list or mapping: too many for a template",
            )
        if isinstance(self.node, CommentedSeq):
            self.node.lc.data[len(self.node)] = [place[0] - 1, place[1] - 1]
            self.node.append(value)
        elif self.key_place is None:
            self._add_key(value, place, findings)
        else:
            self._add_value(value, place, findings)

    def _add_key(self, key: Any, place: TextPlace, findings: Findings) -> None:
        self.key_place = place
        self.key = key if isinstance(key, str) else None
        if self.key is None:
            findings.error(
                place,
                "a key must be a plain name"
                + (
                    ""
                    if isinstance(key, list | dict)
                    else f", not {quoted(key)}; quote it if it is one"
                ),
            )
        elif self.key in self.node or (self.key == _MERGE and self.merge_line is not None):
            is_merge = self.key == _MERGE
            first = self.merge_line if is_merge else self.node.lc.data[self.key][0] + 1
            findings.error(
                place,
                f"the key {quoted(self.key)} is a duplicate; the first is in line {first}"
                + (": merge several mappings with one list" if is_merge else ""),
            )

    def _add_value(self, value: Any, place: TextPlace, findings: Findings) -> None:
        key, key_place = self.key, self.key_place
        self.key, self.key_place = None, None
        if key is None or key_place is None:
            return
        if key == _MERGE:
            self.merge_line = key_place.line
            mappings = value if isinstance(value, list) else [value]
            invalid_values = [item for item in mappings if not isinstance(item, CommentedMap)]
            if invalid_values:
                findings.error(
                    place,
                    "the merge key '<<' takes a mapping or a list of mappings, not"
                    f" {quoted(invalid_values[0])}: repeat a mapping with an alias, as in '<<:"
                    " *name'",
                )
            self.merged_mappings += [item for item in mappings if isinstance(item, CommentedMap)]
        elif key not in self.node:
            self.node.lc.data[key] = [
                key_place[0] - 1,
                key_place[1] - 1,
                place[0] - 1,
                place[1] - 1,
            ]
            self.node[key] = value

    def close(self) -> None:
        """Add the entries of YAML merge keys. The mapping's own keys win."""
        for mapping in self.merged_mappings:
            for key, value in mapping.items():
                if key not in self.node:
                    self.node.lc.data[key] = mapping.lc.data[key]
                    self.node[key] = value


def _is_storable(value: Any) -> bool:
    """Return whether JSON and databases can store a value: no infinity, at most 64 bits."""
    return (
        math.isfinite(value)
        if isinstance(value, float)
        else not isinstance(value, int) or -(1 << 63) <= value < 1 << 63
    )


def _why_not_storable(value: Any) -> str:
    if isinstance(value, int):
        return (
            "has more than the 64 bits of a whole number:"
            f" {INPUTS['whole number of more than 64 bits'].note}"
        )
    return "is not a number that can be represented; quote it if it is text"
