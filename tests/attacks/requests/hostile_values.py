"""Make requests with a hostile value in each field that an OpenAPI document has."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case
from schemathesis.core import NOT_SET

from tests.attacks.known_values import KnownValues

#: A table in each database that no service uses.
CANARY = "canary"

SQL = [
    "'",
    '"',
    f"x'; DROP TABLE {CANARY}; --",
    f"x'); DROP TABLE {CANARY}; --",
    f"1; TRUNCATE {CANARY}",
    f"' UNION TABLE {CANARY} --",
    "' OR '1'='1",
    "$1",
    "%s%s%(x)s{0}{x}",
    "\\'; --",
    "%' ESCAPE '",
]
TEXTS = [
    *SQL,
    "",
    "\0",
    "a\0b",
    "../../../../etc/passwd",
    "..",
    "-rf",
    "\r\nX-Injected: yes",
    "\x1b[31m",
    "\u202e\ufeff\U0001f600",
    "x" * 70_000,
    "9" * 400,
    "NaN",
    "2026-02-30T25:61:61Z",
]
#: Values for JSON only, among them numbers with more digits than Python reads, the largest numbers
#: and half of a surrogate pair.
NUMBERS = [10**400, -(10**400), 2**63, 2**31, -1, 1.7e308, float("inf"), float("nan")]
IN_JSON: list[Any] = [*TEXTS, *NUMBERS, "\ud800", "x\udfffx", None, True, [], {}, [[]], {"'": "'"}]
#: Texts in the encoding of addresses.
IN_ADDRESSES = [
    *(quote(text, safe="") for text in TEXTS if len(text) < 10_000),
    "%ff%fe",
    "%ed%a0%80",
]

_PART = re.compile(r"([^/]+)/\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class HostileRequest:
    """A request in its parts."""

    method: str
    path: str
    parts: dict[str, str]
    query: dict[str, str]
    body: Any = None
    has_body: bool = False

    def request(self, service: str) -> httpx.Request:
        path = self.path
        for name, value in self.parts.items():
            path = path.replace(f"{{{name}}}", value)
        query = "&".join(f"{name}={value}" for name, value in self.query.items())
        content = json.dumps(self.body).encode() if self.has_body else None
        headers = {"content-type": "application/json"} if self.has_body else {}
        url = f"http://{service}{path}?{query}"
        return httpx.Request(self.method, url, content=content, headers=headers)


def make_plain_requests(
    operation: Any, known_values: KnownValues, number: int
) -> list[HostileRequest]:
    """Return valid requests that name existing objects."""
    requests: list[HostileRequest] = []

    @settings(
        max_examples=number,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def keep_request(case: Case[Any]) -> None:
        requests.append(_make_request(case, known_values))

    keep_request()
    return requests


def _make_request(case: Case[Any], known_values: KnownValues) -> HostileRequest:
    fields_by_place = dict((name, place) for place, name in _PART.findall(case.path))
    parts = {
        name: quote(str(known_values.get(fields_by_place.get(name, ""), [value])[0]), safe="")
        for name, value in (case.path_parameters or {}).items()
    }
    query = {name: quote(str(value)) for name, value in (case.query or {}).items()}
    is_json = (case.media_type or "").endswith("json")
    body = copy.deepcopy(case.body) if is_json and case.body is not NOT_SET else None
    if isinstance(body, dict):
        body |= {
            name: known_values[name][0]
            for name in body.keys() & known_values.keys()
            if isinstance(body[name], str)
        }
        body |= {"wait": 0} if "wait" in body else {}
    return HostileRequest(case.method, case.path, parts, query, body, has_body=is_json)


def make_hostile_requests(
    operation: Any, plain: HostileRequest, *, all_: bool
) -> Iterator[HostileRequest]:
    """Yield a request for each value in each field, or for a share of the values in each field. The
    next field gets another share."""
    share = count()

    def select_values(values: list[Any]) -> list[Any]:
        return values if all_ else values[next(share) % SHARE :: SHARE]

    return _replace_each_field(
        operation, plain, lambda: select_values(IN_ADDRESSES), lambda: select_values(IN_JSON)
    )


def make_requests_with_names(
    operation: Any, plain: HostileRequest, names: list[str]
) -> Iterator[HostileRequest]:
    """Yield a request for each of the names in each field."""
    quoted = [quote(name, safe="") for name in names]
    return _replace_each_field(operation, plain, lambda: quoted, lambda: names)


#: One in so many values is sent if not all values are sent.
SHARE = 5
Values = Callable[[], list[Any]]


def _replace_each_field(
    operation: Any, plain: HostileRequest, in_addresses: Values, in_json: Values
) -> Iterator[HostileRequest]:
    for name in plain.parts:
        for text in in_addresses():
            yield replace(plain, parts=plain.parts | {name: text})
    for parameter in operation.query:
        for text in in_addresses():
            yield replace(plain, query=plain.query | {parameter.name: text})
    if plain.has_body:
        for place in [
            (),
            *_list_paths(plain.body),
            *((name,) for name in _list_body_fields(operation)),
        ]:
            for value in in_json():
                yield replace(plain, body=_replace_value(_rename_body(plain.body), place, value))


def _rename_body(body: Any) -> Any:
    """Return the body with a new name."""
    if isinstance(body, dict) and isinstance(body.get("name"), str):
        return body | {"name": f"n{uuid4().hex}"}
    return body


def _list_body_fields(operation: Any) -> list[str]:
    """Return the fields of the body, including optional fields."""
    names: list[str] = []
    for alternative in operation.body:
        schema = alternative.resolved_schema
        names += schema.get("properties", {})
    return names


BodyPath = tuple[str | int, ...]


def _list_paths(value: Any, parent_path: BodyPath = ()) -> Iterator[BodyPath]:
    """Yield the positions within a body. Of each list, only the first item counts."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else list(enumerate(value))[:1]
        if isinstance(value, list)
        else []
    )
    for name, part in inner:
        yield (*parent_path, name)
        yield from _list_paths(part, (*parent_path, name))


def _replace_value(body: Any, place: BodyPath, value: Any) -> Any:
    if not place:
        return value
    changed = copy.deepcopy(body)
    part = changed
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    return changed
