"""The value of an extension field as written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.reading.findings import Findings, TextPlace, text_place
from sluice.text.visible_text import quoted


@dataclass(frozen=True, slots=True)
class FieldValue:
    """The value of a field, with what its reader needs to report errors.

    Attributes:
        node: The owner of the field.
        key: The key of the field as written.
        name: The name of the field.
        findings: Gets the errors.
        remove_prefix: Returns a key without our prefix, or None for a key that is not ours.
        example: An example of the field.
    """

    node: CommentedMap
    key: str
    name: str
    findings: Findings
    remove_prefix: Callable[[str], str | None]
    example: str = ""

    @property
    def raw_value(self) -> Any:
        """The value as the template has it."""
        return self.node[self.key]

    def report_error(self, message: str, place: TextPlace | None = None) -> None:
        """Report an error of the value."""
        self.findings.error(
            place or text_place(self.node, self.key), f"{quoted(self.key)} {message}"
        )

    def mapping(self) -> CommentedMap | None:
        """Return the value as a mapping, or None after an error."""
        if isinstance(self.raw_value, CommentedMap):
            return self.raw_value
        self.report_error(f"is a mapping; {self.example}")
        return None

    def plain_key(self, key: str) -> str:
        """Return an inner key without our prefix.

        Inner keys that are words of CWL have the prefix, so that other runners ignore them.
        """
        return self.remove_prefix(key) or key

    def inner_places(self) -> dict[str, TextPlace]:
        """Return the places of the keys inside the value, two levels deep."""
        if not isinstance(self.raw_value, CommentedMap):
            return {}
        places = {self.plain_key(key): text_place(self.raw_value, key) for key in self.raw_value}
        for key, inner_mapping in self.raw_value.items():
            if isinstance(inner_mapping, CommentedMap):
                outer = self.plain_key(key)
                places |= {
                    f"{outer}.{self.plain_key(inner)}": text_place(inner_mapping, inner)
                    for inner in inner_mapping
                }
        return places


#: A reader of a field, which returns the value, or None after an error.
Reader = Callable[[FieldValue], Any]
