"""``sluice:match``, with the triggers of a template, and ``sluice:collect``."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from ruamel.yaml.comments import CommentedMap

from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.data.append_only import Collect, GrowthTrigger, Trigger
from sluice.contracts.templates.conditions import Condition
from sluice.cwl.properties.conditions import InvalidConditionError, parse_condition
from sluice.cwl.properties.field_value import FieldValue
from sluice.cwl.reading.findings import TextPlace, suggest_or_list, text_place
from sluice.cwl.reading.nodes import plain_json
from sluice.scheduling.schedules import InvalidScheduleError, check_schedule, check_zone
from sluice.text.sentences import lower_first
from sluice.text.visible_text import quoted

#: Keys of ``sluice:match`` that are not conditions. ``zone`` is a condition if there is no
#: ``schedule``.
_EVERY, _SCHEDULE, _ZONE = "every", "schedule", "zone"


@dataclass(frozen=True, slots=True)
class Match:
    """The value of ``sluice:match``. Without a trigger it matches each new data set."""

    conditions: dict[str, Condition] = field(default_factory=dict)
    trigger: Trigger | None = None


def read_match(value: FieldValue) -> Match | None:
    """Read ``sluice:match``."""
    mapping = value.mapping()
    if mapping is None:
        return None
    keys = {value.plain_key(key): key for key in mapping}
    trigger_keys = {key for key in (_EVERY, _SCHEDULE) if key in keys}
    if _SCHEDULE in keys and _ZONE in keys:
        trigger_keys.add(_ZONE)
    conditions = parse_conditions(value, mapping, excluded_keys=trigger_keys)
    places = {key: text_place(mapping, keys[key]) for key in trigger_keys}
    if {_EVERY, _SCHEDULE} <= trigger_keys:
        value.report_error("takes 'every' or 'schedule', not both", places[_SCHEDULE])
    elif _EVERY in trigger_keys:
        every = _read_growth_trigger(value, mapping[keys[_EVERY]], places[_EVERY])
        return Match(conditions, None if every is None else Trigger(every=every))
    elif _SCHEDULE in trigger_keys:
        zone = mapping[keys[_ZONE]] if _ZONE in trigger_keys else "UTC"
        return Match(conditions, _read_schedule(value, mapping[keys[_SCHEDULE]], zone, places))
    return Match(conditions)


def _read_growth_trigger(value: FieldValue, mapping: Any, place: TextPlace) -> GrowthTrigger | None:
    if not isinstance(mapping, CommentedMap) or not mapping:
        value.report_error("every: is a mapping such as {files: 1000, hours: 24}", place)
        return None
    fields = {value.plain_key(key): plain_json(item) for key, item in mapping.items()}
    places = {value.plain_key(key): text_place(mapping, key) for key in mapping}
    if unknown_fields := [key for key in fields if key not in GrowthTrigger.model_fields]:
        for key in unknown_fields:
            value.report_error(
                "every: has no field"
                f" {quoted(key)}{suggest_or_list(key, GrowthTrigger.model_fields)}",
                places[key],
            )
        return None
    if "files" not in fields and "hours" not in fields:
        value.report_error("every: requires 'files', 'hours', or both", place)
        return None
    try:
        return GrowthTrigger.model_validate(fields, strict=True)
    except ValidationError as error:
        for problem in error.errors():
            key = str(problem["loc"][0])
            value.report_error(
                f"every: {key}: {lower_first(validation_sentence(problem))}, not"
                f" {quoted(plain_json(problem['input']))}",
                places.get(key, place),
            )
    return None


def _read_schedule(
    value: FieldValue, schedule: Any, zone: Any, places: dict[str, TextPlace]
) -> Trigger | None:
    is_valid = True
    for key, text, check in ((_SCHEDULE, schedule, check_schedule), (_ZONE, zone, check_zone)):
        try:
            if not isinstance(text, str):
                raise InvalidScheduleError(f"is a text, not {quoted(plain_json(text))}")
            check(text)
        except InvalidScheduleError as error:
            value.report_error(f"{key}: {error}", places.get(key, places[_SCHEDULE]))
            is_valid = False
    return Trigger(schedule=" ".join(schedule.split()), zone=zone) if is_valid else None


def parse_conditions(
    value: FieldValue, mapping: CommentedMap, *, excluded_keys: Collection[str] = ()
) -> dict[str, Condition]:
    """Return the conditions of a mapping by key, and report malformed ones.

    Args:
        value: The field, which reports errors.
        mapping: The mapping.
        excluded_keys: Keys that are not conditions.
    """
    conditions: dict[str, Condition] = {}
    for key, condition in mapping.items():
        if value.plain_key(key) in excluded_keys:
            continue
        try:
            conditions[value.plain_key(key)] = parse_condition(condition)
        except InvalidConditionError as error:
            value.report_error(f"{key}: {error}", text_place(mapping, key))
    return conditions


def read_collect(value: FieldValue) -> Collect | None:
    """Read ``sluice:collect``: a name or a mapping. The type is the name by default."""
    raw_value = plain_json(value.raw_value)
    fields = {"name": raw_value} if isinstance(raw_value, str) else raw_value
    if not isinstance(fields, dict):
        value.report_error(f"is the name of an append-only data set; {value.example}")
        return None
    fields = {value.plain_key(str(key)): item for key, item in fields.items()}
    places = value.inner_places()
    for key in [key for key in fields if key not in Collect.model_fields]:
        value.report_error(
            f"has no field {quoted(key)}{suggest_or_list(key, Collect.model_fields)}",
            places.get(key),
        )
        del fields[key]
    if "name" not in fields:
        value.report_error(f"has no 'name'; {value.example}")
        return None
    try:
        return Collect.model_validate({"type": fields["name"], **fields}, strict=True)
    except ValidationError as error:
        problem = error.errors()[0]
        value.report_error(validation_sentence(problem), places.get(str(problem["loc"][0])))
    return None
