"""``sluice:match``, with the triggers of a template, and ``sluice:collect``."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from ruamel.yaml.comments import CommentedMap

from sluice.contracts.common.wording import sentence_of
from sluice.contracts.data.append_only import Collect, GrowthTrigger, Trigger
from sluice.contracts.templates.plan import Condition
from sluice.cwl.properties.conditions import WrongConditionError, condition_of
from sluice.cwl.properties.field_value import FieldValue
from sluice.cwl.reading.findings import TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import plain_json
from sluice.scheduling.schedules import WrongScheduleError, check_schedule, check_zone
from sluice.text.visible_text import quoted

#: Keys of ``sluice:match`` that are not conditions. ``zone`` is one of them only beside
#: ``schedule``.
_EVERY, _SCHEDULE, _ZONE = "every", "schedule", "zone"


@dataclass(frozen=True, slots=True)
class Match:
    """The value of ``sluice:match``. Without ``due`` it matches each data set that comes."""

    conditions: dict[str, Condition] = field(default_factory=dict)
    due: Trigger | None = None


def read_match(value: FieldValue) -> Match | None:
    """Read ``sluice:match``."""
    written = value.mapping()
    if written is None:
        return None
    keys = {value.plain_key(key): key for key in written}
    ours = {key for key in (_EVERY, _SCHEDULE) if key in keys}
    if _SCHEDULE in keys and _ZONE in keys:
        ours.add(_ZONE)
    conditions = conditions_in(value, written, but=ours)
    places = {key: text_place(written, keys[key]) for key in ours}
    if {_EVERY, _SCHEDULE} <= ours:
        value.wrong("takes 'every' or 'schedule', not both", places[_SCHEDULE])
    elif _EVERY in ours:
        every = _every(value, written[keys[_EVERY]], places[_EVERY])
        return Match(conditions, None if every is None else Trigger(every=every))
    elif _SCHEDULE in ours:
        zone = written[keys[_ZONE]] if _ZONE in ours else "UTC"
        return Match(conditions, _schedule(value, written[keys[_SCHEDULE]], zone, places))
    return Match(conditions)


def _every(value: FieldValue, written: Any, place: TextPlace) -> GrowthTrigger | None:
    if not isinstance(written, CommentedMap) or not written:
        value.wrong("every: is a mapping such as {files: 1000, hours: 24}", place)
        return None
    given = {value.plain_key(key): plain_json(item) for key, item in written.items()}
    places = {value.plain_key(key): text_place(written, key) for key in written}
    if unknown := [key for key in given if key not in GrowthTrigger.model_fields]:
        for key in unknown:
            value.wrong(
                f"every: knows no {quoted(key)}{did_you_mean(key, GrowthTrigger.model_fields)}",
                places[key],
            )
        return None
    if "files" not in given and "hours" not in given:
        value.wrong("every: says 'files', 'hours', or both", place)
        return None
    try:
        return GrowthTrigger.model_validate(given, strict=True)
    except ValidationError as error:
        for each in error.errors():
            key = str(each["loc"][0])
            said = sentence_of(each)
            value.wrong(
                f"every: {key}: {said[0].lower()}{said[1:]}, not"
                f" {quoted(plain_json(each['input']))}",
                places.get(key, place),
            )
    return None


def _schedule(
    value: FieldValue, written: Any, zone: Any, places: dict[str, TextPlace]
) -> Trigger | None:
    fine = True
    for key, text, check in ((_SCHEDULE, written, check_schedule), (_ZONE, zone, check_zone)):
        try:
            if not isinstance(text, str):
                raise WrongScheduleError(f"is a text, not {quoted(plain_json(text))}")
            check(text)
        except WrongScheduleError as error:
            value.wrong(f"{key}: {error}", places.get(key, places[_SCHEDULE]))
            fine = False
    return Trigger(schedule=" ".join(written.split()), zone=zone) if fine else None


def conditions_in(
    value: FieldValue, written: CommentedMap, *, but: Collection[str] = ()
) -> dict[str, Condition]:
    """Return the conditions of a mapping by key, and report malformed ones.

    Args:
        value: The field, which reports errors.
        written: The mapping.
        but: Keys that are not conditions.
    """
    found: dict[str, Condition] = {}
    for key, wanted in written.items():
        if value.plain_key(key) in but:
            continue
        try:
            found[value.plain_key(key)] = condition_of(wanted)
        except WrongConditionError as error:
            value.wrong(f"{key}: {error}", text_place(written, key))
    return found


def read_collect(value: FieldValue) -> Collect | None:
    """Read ``sluice:collect``: a name or a mapping. The type is the name by default."""
    written = plain_json(value.written)
    given = {"name": written} if isinstance(written, str) else written
    if not isinstance(given, dict):
        value.wrong(f"is the name of a standing data set; {value.example}")
        return None
    given = {value.plain_key(str(key)): item for key, item in given.items()}
    places = value.inner_places()
    for key in [key for key in given if key not in Collect.model_fields]:
        value.wrong(
            f"knows no {quoted(key)}{did_you_mean(key, Collect.model_fields)}", places.get(key)
        )
        del given[key]
    if "name" not in given:
        value.wrong(f"has no 'name'; {value.example}")
        return None
    try:
        return Collect.model_validate({"type": given["name"], **given}, strict=True)
    except ValidationError as error:
        said = error.errors()[0]
        value.wrong(sentence_of(said), places.get(str(said["loc"][0])))
    return None
