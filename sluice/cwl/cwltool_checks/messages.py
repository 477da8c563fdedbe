"""What cwltool and schema-salad say, as findings in plain words."""

import json
import re
from collections.abc import Iterator
from typing import Any

from sluice.cwl.documents.types import PRIMITIVES, normal_type, short_form
from sluice.cwl.reading.findings import START, Findings, TextPlace, did_you_mean

_PLACED = re.compile(
    r"^\s*(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): ?(?P<indent> *)(?P<message>.*)$"
)
#: A type as JSON, at the end of a message or before its next word.
_TYPE = re.compile(r"of type (\"\w+\"|[\[{].*?[\]}])(?= is incompatible| with sink|$)")


def tell_error(error: Any, findings: Findings) -> None:
    """One finding for each reason; where there is a finding already at the same place, ours says it
    better."""
    messages_at: dict[TextPlace, list[str]] = {}
    for leaf in error.leaves():
        if leaf.start is None:
            tell_text(leaf.message, findings)
            continue
        message = _plain_words(leaf.message)
        place = TextPlace(int(leaf.start[0]), int(leaf.start[1]), leaf.file)
        if message not in messages_at.setdefault(place, []):
            messages_at[place].append(message)
    for place, messages in messages_at.items():
        if not findings.has_error_at(place):
            findings.error(place, "; or ".join(messages))


def tell_text(text: str, findings: Findings) -> None:
    """Messages that carry their places in the text. One that goes on in further lines is told where
    the last of them points: of a link, at its end."""
    for place, lines in _messages(text):
        message = _plain_words(" ".join(lines))
        if message and not findings.has_error_at(place):
            findings.error(place, message)


def _messages(text: str) -> Iterator[tuple[TextPlace, list[str]]]:
    place, lines = START, list[str]()
    for line in text.splitlines():
        match = _PLACED.match(line)
        part = match["message"] if match else line
        # The libraries put a message's further lines further in.
        goes_on = match is None or match["indent"] or not lines
        if not goes_on:
            yield place, lines
            place, lines = START, []
        if match:
            place = TextPlace(int(match["line"]), int(match["column"]), match["file"])
        if part.strip():
            lines.append(part.strip())
    if lines:
        yield place, lines


def _plain_words(message: str) -> str:
    """The libraries' messages without their inner addresses and class names."""
    message = re.sub(r",? tried \S+( file:\S+)*$", "", " ".join(message.split()))
    message = re.sub(
        r"file:///template#main/|file:///template#|file:///|org\.w3id\.cwl\.(cwl|salad)\.",
        "",
        message,
    )
    message = message.replace("a CommentedSeq", "a list").replace("a CommentedMap", "a mapping")
    message = _TYPE.sub(lambda found: f"of type {_shown(found[1])}", message)
    unknown_field = re.match(r"invalid field '([^']*)', expected one of: (.*)", message)
    if unknown_field:
        known = re.findall(r"'([^']+)'", unknown_field[2])
        return f"there is no field '{unknown_field[1]}' here{did_you_mean(unknown_field[1], known)}"
    unknown_name = re.match(r"Field '(\w+)' references unknown identifier '([^']*)'", message)
    if unknown_name:
        name = unknown_name[2]
        return (
            f"there is no type '{name}'{did_you_mean(name, PRIMITIVES)}"
            if unknown_name[1] in ("type", "items")
            else f"there is no '{name}'"
        )
    return message[:600]


def _shown(written: str) -> str:
    """A type that stands in a message as JSON."""
    try:
        return short_form(normal_type(json.loads(written)))
    except ValueError:
        return written
