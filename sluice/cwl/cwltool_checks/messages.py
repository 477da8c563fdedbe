"""Translation of the messages of cwltool and schema-salad into findings in plain words."""

import json
import re
from collections.abc import Iterator
from typing import Any

from sluice.cwl.documents.types import PRIMITIVES, normal_type, short_form
from sluice.cwl.reading.findings import START, Findings, TextPlace, suggest_or_list
from sluice.text.visible_text import escaped, quoted

_PLACED_MESSAGE = re.compile(
    r"^\s*(?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+): ?(?P<indent> *)(?P<message>.*)$"
)
#: A type as JSON, at the end of a message or before its next word.
_TYPE = re.compile(r"of type (\"\w+\"|[\[{].*?[\]}])(?= is incompatible| with sink|$)")

_NOTHING = "the value is missing: write it, or leave the field out"
#: The names of value kinds in schema-salad, and ours.
_KINDS = {
    "int": "a number",
    "long": "a whole number",
    "float": "a number",
    "double": "a number",
    "float or double": "a number",
    "str": "a text",
    "string": "a text",
    "bool": "true or false",
    "boolean": "true or false",
    "list": "a list",
    "dict": "a mapping",
}


def report_error(error: Any, findings: Findings) -> None:
    """Add one error for each reason and place.

    A place that has an error already is skipped, because our own message is clearer.
    """
    messages_at: dict[TextPlace, list[str]] = {}
    for leaf in error.leaves():
        if leaf.start is None:
            report_text(leaf.message, findings)
            continue
        message = _plain_words(leaf.message)
        place = TextPlace(int(leaf.start[0]), int(leaf.start[1]), leaf.file)
        if message not in messages_at.setdefault(place, []):
            messages_at[place].append(message)
    for place, messages in messages_at.items():
        if not findings.has_error_at(place):
            is_empty = _NOTHING in messages
            findings.error(place, _NOTHING if is_empty else "; or ".join(messages))


def report_text(text: str, findings: Findings) -> None:
    """Add the errors of messages that contain their places in the text.

    A message of several lines gets the place of its last line, which for links is their end.
    """
    for place, lines in _messages(text):
        message = _plain_words(" ".join(lines))
        if message and not findings.has_error_at(place):
            findings.error(place, message)


def _messages(text: str) -> Iterator[tuple[TextPlace, list[str]]]:
    place, lines = START, list[str]()
    for line in text.splitlines():
        match = _PLACED_MESSAGE.match(line)
        part = match["message"] if match else line
        # The libraries indent the further lines of a message.
        continues = match is None or match["indent"] or not lines
        if not continues:
            yield place, lines
            place, lines = START, []
        if match:
            place = TextPlace(int(match["line"]), int(match["column"]), match["file"])
        if part.strip():
            lines.append(part.strip())
    if lines:
        yield place, lines


def _plain_words(message: str) -> str:
    """Return a message of the libraries without internal addresses and class names."""
    message = re.sub(r",? tried \S+( file:\S+)*$", "", " ".join(message.split()))
    message = re.sub(
        r"file:///template#main/|file:///template#|file:///|org\.w3id\.cwl\.(cwl|salad)\.",
        "",
        message,
    )
    message = message.replace("a CommentedSeq", "a list").replace("a CommentedMap", "a mapping")
    message = _reworded(message)
    message = _TYPE.sub(lambda match: f"of type {_short_type(match[1])}", message)
    unknown_field = re.match(r"invalid field '([^']*)', expected one of: (.*)", message)
    if unknown_field:
        fields = re.findall(r"'([^']+)'", unknown_field[2])
        name = unknown_field[1]
        return f"there is no field {quoted(name)} here{suggest_or_list(name, fields)}"
    unknown_name = re.match(r"Field '(\w+)' references unknown identifier '([^']*)'", message)
    if unknown_name:
        name = unknown_name[2]
        return (
            f"there is no type {quoted(name)}{suggest_or_list(name, PRIMITIVES)}"
            if unknown_name[1] in ("type", "items")
            else f"there is no {quoted(name)}"
        )
    return escaped(message[:600])


def _reworded(message: str) -> str:
    """Return a message of schema-salad about a value without Python's words and internal names."""
    if re.search(r"\bvalue (?:is an? NoneType|None is not)\b", message):
        return _NOTHING
    message = re.sub(r"\bis not a valid \w+_[0-9a-f]{20,}", "is not valid here", message)
    message = re.sub(
        r"\bis not a dict\. Expected an? (\w+) object\.?",
        lambda match: f"a mapping is expected here ({_in_words(match[1])})",
        message,
    )
    message = re.sub(
        r"(?i:value) is an? (\w+)\b",
        lambda match: f"the value is {_KINDS.get(match[1], f'a {match[1]}')}",
        message,
    )
    message = re.sub(
        r"the value (\S+) is not (long|float or double|int|float|double|string|boolean)\b",
        lambda match: f"{_unquoted(match[1])} is not {_KINDS[match[2]]}",
        message,
    )
    return re.sub(r"\bNone\b", "null", message)


def _in_words(name: str) -> str:
    """Return the name of a schema class as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _unquoted(value: str) -> str:
    """Return a value without surrounding double quotation marks."""
    return value[1:-1] if value[:1] == value[-1:] == '"' else value


def _short_type(type_json: str) -> str:
    """Return the short form of a type that a message contains as JSON."""
    try:
        return short_form(normal_type(json.loads(type_json)))
    except ValueError:
        return type_json
