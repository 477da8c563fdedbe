"""Patterns of secondary files, and the data sets whose files have them at fetch time."""

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.contracts.templates.plan import DataEntries, SecondaryFile
from sluice.cwl.documents.types import ARRAY_OF_FILES, without_null
from sluice.cwl.documents.workflow import Port


def secondary_file_patterns(body: Mapping[str, Any]) -> Iterator[SecondaryFile | None]:
    """Yield the patterns of a port, and None for an expression or a malformed pattern."""
    patterns = body.get("secondaryFiles")
    if patterns is not None:
        yield from map(_pattern, patterns if isinstance(patterns, list) else [patterns])


def _pattern(declaration: Any) -> SecondaryFile | None:
    pattern, required = declaration, None
    if isinstance(declaration, Mapping):
        pattern, required = declaration.get("pattern"), declaration.get("required")
    if (
        not isinstance(pattern, str)
        or "$(" in pattern
        or "${" in pattern
        or not isinstance(required, bool | None)
    ):
        return None
    if pattern.endswith("?"):
        return SecondaryFile(pattern=pattern[:-1], required=False)
    return SecondaryFile(pattern=str(pattern), required=required is not False)


def data_entries(port: Port, *, is_bundle: bool = False) -> DataEntries:
    """Return the kind of entries of a data input that has been checked."""
    if is_bundle:
        return DataEntries(type="Any")
    return DataEntries(
        type="File" if without_null(port.type) in ("File", ARRAY_OF_FILES) else "Directory",
        secondary_files=[
            pattern for pattern in secondary_file_patterns(port.body) if pattern is not None
        ],
    )
