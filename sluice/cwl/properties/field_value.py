"""The value of an extension field, as it is written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.reading.findings import Findings, TextPlace, text_place


@dataclass(frozen=True, slots=True)
class FieldValue:
    """What is written for the field ``name``, as ``key`` of ``node``, with what its reader needs to
    complain. ``own_name``: of a key, without our prefix; None for what is not ours. ``example``: of
    such a field."""

    node: CommentedMap
    key: str
    name: str
    findings: Findings
    own_name: Callable[[str], str | None]
    example: str = ""

    @property
    def written(self) -> Any:
        return self.node[self.key]

    def wrong(self, message: str, place: TextPlace | None = None) -> None:
        self.findings.error(place or text_place(self.node, self.key), f"'{self.key}' {message}")

    def mapping(self) -> CommentedMap | None:
        """The value as a mapping; else an error."""
        if isinstance(self.written, CommentedMap):
            return self.written
        self.wrong(f"is a mapping; {self.example}")
        return None

    def plain_key(self, key: str) -> str:
        """Inner keys that are words of CWL carry the prefix, so that other runners leave them."""
        return self.own_name(key) or key

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


#: Gives the value, or None after an error.
Reader = Callable[[FieldValue], Any]
