"""Patterns of secondary files, and the data sets whose files have them at fetch time."""

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.contracts.templates.plan import DataEntries, SecondaryFile
from sluice.cwl.documents.types import ARRAY_OF_FILES, without_null
from sluice.cwl.documents.workflow import Port


def patterns_of(body: Mapping[str, Any]) -> Iterator[SecondaryFile | None]:
    """Yield the patterns of a port, and None for an expression or a malformed pattern."""
    written = body.get("secondaryFiles")
    if written is not None:
        yield from map(_pattern, written if isinstance(written, list) else [written])


def _pattern(written: Any) -> SecondaryFile | None:
    pattern, required = written, None
    if isinstance(written, Mapping):
        pattern, required = written.get("pattern"), written.get("required")
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


def data_entries(port: Port) -> DataEntries:
    """Return the kind of entries of a data input that has been checked."""
    return DataEntries(
        type="File" if without_null(port.type) in ("File", ARRAY_OF_FILES) else "Directory",
        secondary_files=[pattern for pattern in patterns_of(port.body) if pattern is not None],
    )
