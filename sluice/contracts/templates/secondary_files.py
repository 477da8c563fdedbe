"""Patterns of secondary files as CWL documents declare them."""

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.contracts.templates.plan import SecondaryFile
from sluice.text.identifiers import local_name


def read_patterns(declaration: Any) -> Iterator[SecondaryFile | None]:
    """Yield the patterns of ``secondaryFiles``.

    Expressions and malformed patterns give None.
    """
    if declaration is not None:
        yield from map(_read, declaration if isinstance(declaration, list) else [declaration])


def _read(declaration: Any) -> SecondaryFile | None:
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


def secondary_name(name: str, pattern: str) -> str:
    """Return the name of a secondary file by the rule of CWL.

    ``^.bai`` turns ``x.bam`` into ``x.bai``, and ``.bai`` turns it into ``x.bam.bai``.
    """
    while pattern.startswith("^"):
        name, pattern = name.rpartition(".")[0] or name, pattern[1:]
    return name + pattern


def record_fields(record: Mapping[str, Any]) -> dict[str, tuple[Any, list[SecondaryFile]]]:
    """Return the type and the patterns of each field of a record type, by name."""
    fields = record.get("fields") or {}
    if not isinstance(fields, Mapping):
        fields = {local_name(field["name"]): field for field in fields}
    return {name: _read_field(field) for name, field in fields.items()}


def _read_field(field: Any) -> tuple[Any, list[SecondaryFile]]:
    if not isinstance(field, Mapping):
        return field, []
    kind = field.get("type")
    patterns = read_patterns(field.get("secondaryFiles"))
    return field if kind in ("array", "record", "enum") else kind, list(filter(None, patterns))
