"""The prefixes (``$namespaces``) of the files of a template."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.features import NAMESPACE
from sluice.cwl.reading.findings import Findings, text_place
from sluice.cwl.reading.nodes import mappings, put_at
from sluice.text.visible_text import quoted


@dataclass(slots=True)
class Prefixes:
    """The prefixes that files declare.

    Attributes:
        addresses: The address of each prefix, as the first file that declares it has it.
        prefixes_by_file: The prefixes that a file uses for other addresses than files before it.
    """

    addresses: dict[str, str] = field(default_factory=dict)
    prefixes_by_file: dict[str, dict[str, str]] = field(default_factory=dict)

    def declare(self, document: CommentedMap, file: str, findings: Findings) -> None:
        """Note the prefixes that the document of a file declares.

        It is an error if files disagree about a prefix that one of them declares for Sluice: fields
        would be lost without a word.
        """
        declared = document.get("$namespaces")
        for prefix, address in declared.items() if isinstance(declared, CommentedMap) else ():
            first = self.addresses.setdefault(prefix, address)
            if first == address:
                continue
            self.prefixes_by_file.setdefault(file, {})[prefix] = address
            if NAMESPACE in (first, address):
                findings.error(
                    text_place(declared, prefix),
                    f"the prefix {quoted(prefix)} stands for {quoted(address)} here and for"
                    f" {quoted(first)} in a file before: the address of Sluice's fields is"
                    f" {quoted(NAMESPACE)}",
                )

    def add_to(self, document: CommentedMap) -> None:
        """Add the prefixes of all files to a document."""
        declared = document.setdefault("$namespaces", CommentedMap()) if self.addresses else None
        if isinstance(declared, CommentedMap):
            for prefix, address in self.addresses.items():
                declared.setdefault(prefix, address)

    def expand_others(self, node: Any, file: str) -> None:
        """Replace the prefixes of a file that stand for other addresses than in files before it.

        Prefixes occur in the names of fields, and in classes and formats.
        """
        prefixes = self.prefixes_by_file.get(file, {})
        for inner in mappings(node) if prefixes else ():
            for key in list(inner):
                value, place = inner[key], text_place(inner, key)
                value = _expand(value, prefixes) if key in ("class", "format") else value
                del inner[key]
                put_at(inner, _expand(key, prefixes), value, place)


def _expand(name: Any, prefixes: Mapping[str, str]) -> Any:
    if isinstance(name, list):
        name[:] = [_expand(item, prefixes) for item in name]
    elif isinstance(name, str):
        prefix, colon, rest = name.partition(":")
        if colon and isinstance(prefixes.get(prefix), str):
            return prefixes[prefix] + rest
    return name
