"""Values as the texts of form fields, and typed texts as values.

Each value has a text that is read as that value.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, assert_never
from uuid import UUID

from sluice.contracts.common.bounds import describe_number, find_non_finite
from sluice.contracts.templates.parameters import describe, fits, names_dataset
from sluice.contracts.templates.secondary_files import record_fields
from sluice.text.identifiers import local_name
from wfms.operator.web.domain.field_kinds import FieldKind, FieldType, list_alternatives

#: The most characters of an example. A longer example is left out.
MAX_EXAMPLE_LENGTH = 300


class InvalidTypedValue(ValueError):
    """A typed text that is no value of the expected kind; the message names what is expected.

    Attributes:
        line: The line that is wrong, if the text has one value a line.
    """

    def __init__(self, message: str, *, line: str | None = None) -> None:
        super().__init__(message)
        self.line = line


def parse_text(text: str, field_type: FieldType) -> Any:
    """Return the value of a typed text.

    Args:
        text: The text, which is not blank.
        field_type: The type of the field, which is no group.

    Raises:
        InvalidTypedValue: The text is no value of the type.
    """
    if field_type.takes_dataset and (uid := _find_uid(text)):
        return {"class": "File", "dataset": uid}
    value: Any
    match field_type.kind:
        case FieldKind.TEXT:
            value = _parse_string(text, field_type)
        case FieldKind.CHOICE:
            value = text.strip()
        case FieldKind.TRUTH:
            value = _parse_truth(text.strip())
        case FieldKind.INTEGER | FieldKind.NUMBER:
            value = _parse_number(text, field_type.kind)
        case FieldKind.FILE | FieldKind.FILES:
            value = _parse_file(text, field_type)
        case FieldKind.LINES:
            value = _parse_lines(text, field_type)
        case FieldKind.UNION:
            value = _parse_union(text, field_type)
        case FieldKind.JSON | FieldKind.GROUP:
            return _parse_json(text)
        case _:
            assert_never(field_type.kind)
    if field_type.kind is not FieldKind.FILES and not fits(value, field_type.cwl):
        raise InvalidTypedValue(f"must be {describe(field_type.cwl)}")
    return value


def _find_uid(text: str) -> str | None:
    try:
        return str(UUID(text.strip()))
    except ValueError:
        return None


def _parse_string(text: str, field_type: FieldType) -> str:
    """Return the text, or the string of JSON that a field can express in no other way.

    These are the empty string, and strings with line breaks.
    """
    decoded = _decode_string(text)
    return text if decoded is None or _is_plain(decoded, field_type) else decoded


def _decode_string(text: str) -> str | None:
    """Return the string of a text that is a string of JSON, or None."""
    if not text.strip().startswith('"'):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _is_plain(value: str, field_type: FieldType) -> bool:
    """Return whether a field shows a string as it is, and is read as that string."""
    if not value.strip() or any(character < " " and character != "\t" for character in value):
        return False
    try:
        return bool(parse_text(value, field_type) == value)
    except InvalidTypedValue:
        return False


def _parse_union(text: str, field_type: FieldType) -> Any:
    for alternative in field_type.alternatives:
        try:
            if alternative.kind is not FieldKind.TEXT:
                return parse_text(text, alternative)
            return _parse_string(text, field_type)
        except InvalidTypedValue:
            continue
    raise InvalidTypedValue(f"must be {describe(field_type.cwl)}")


def _parse_lines(text: str, field_type: FieldType) -> list[Any]:
    """Return a list of one value a line, or of a JSON list."""
    (item,) = field_type.alternatives
    listed = _find_list(text)
    if listed is not None and fits(listed, field_type.cwl):
        return listed
    values = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if line.strip():
            try:
                values.append(parse_text(line, item))
            except InvalidTypedValue as error:
                raise InvalidTypedValue(f"{error} in line {number}", line=line) from error
    return values


def _find_list(text: str) -> list[Any] | None:
    if not text.strip().startswith("["):
        return None
    try:
        value = _parse_json(text)
    except InvalidTypedValue:
        return None
    return value if isinstance(value, list) else None


def _parse_json(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidTypedValue("must be written as JSON") from error
    if (number := find_non_finite(value)) is not None:
        raise InvalidTypedValue(
            f"must be written as JSON, which has no number such as {describe_number(number)}"
        )
    try:
        _to_json(value).encode()
    except UnicodeEncodeError as error:
        raise InvalidTypedValue("must be written as JSON without unpaired surrogates") from error
    return value


def _parse_truth(text: str) -> bool:
    if text not in {"true", "false"}:
        raise InvalidTypedValue("must be true or false")
    return text == "true"


def _parse_number(text: str, kind: FieldKind) -> float:
    try:
        number = int(text) if kind is FieldKind.INTEGER else float(text)
    except ValueError as error:
        raise InvalidTypedValue(
            "must be a whole number" if kind is FieldKind.INTEGER else "must be a number"
        ) from error
    if not math.isfinite(number) or (abs(number) >= 2**63 and kind is FieldKind.INTEGER):
        raise InvalidTypedValue("must be a number that can be represented")
    return number


def _parse_file(text: str, field_type: FieldType) -> dict[str, str]:
    if (uid := _find_uid(text)) is None:
        raise InvalidTypedValue("must be the uid of a data set of one file")
    return {"class": "Directory" if field_type.cwl == "Directory" else "File", "dataset": uid}


def format_value(value: Any, field_type: FieldType) -> str:
    """Return the text of a value, which is read as that value.

    A value that does not fit the type becomes a text that is easily understood.
    """
    if value is None:
        return ""
    if names_dataset(value) and field_type.kind is not FieldKind.JSON:
        return str(value["dataset"])
    match field_type.kind:
        case FieldKind.TEXT | FieldKind.UNION if isinstance(value, str):
            return value if _is_plain(value, field_type) else _to_json(value)
        case FieldKind.LINES if isinstance(value, list):
            return _format_lines(value, field_type)
        case FieldKind.JSON:
            return _to_json(value)
    return value_text(value)


def _format_lines(values: list[Any], field_type: FieldType) -> str:
    text = "\n".join(format_value(value, field_type.alternatives[0]) for value in values)
    try:
        if text.strip() and parse_text(text, field_type) == values:
            return text
    except InvalidTypedValue:
        pass
    return _to_json(values)


def value_text(value: Any) -> str:
    """Return a value as text: strings unchanged, other values as JSON."""
    return value if isinstance(value, str) else _to_json(value)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def example_of(kind: Any) -> str:
    """Return a value of a CWL type as JSON, or an empty text if it would be long."""
    text = _to_json(_example_value(kind))
    return text if len(text) <= MAX_EXAMPLE_LENGTH else ""


_EXAMPLES: Mapping[str, Any] = {
    "int": 1, "long": 1, "float": 0.5, "double": 0.5, "string": "text", "boolean": True,
    "File": {"class": "File", "dataset": "UID"},
    "Directory": {"class": "Directory", "dataset": "UID"},
    "Any": {"key": "value"},
}  # fmt: skip


def _example_value(kind: Any) -> Any:
    alternatives = [each for each in list_alternatives(kind) if each != "null"]
    match alternatives[0] if alternatives else None:
        case {"type": "array", "items": items}:
            return [_example_value(items)]
        case {"type": "enum", "symbols": [symbol, *_]}:
            return local_name(symbol)
        case {"type": "record", "fields": list() | dict() as fields}:
            return {
                name: _example_value(field)
                for name, (field, _) in record_fields({"fields": fields}).items()
            }
        case str() as name:
            return _EXAMPLES.get(name)
    return None
