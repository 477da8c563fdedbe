"""Pages of pilots, most important first.

Each kind of pilot is read along its index from the end of the page before.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.chains.attention import Acknowledgement
from sluice.contracts.common.problems import InvalidCursor
from sluice.contracts.pilots.pilot_list import Pilot, PilotList
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.in_flight import ALLOCATION, IN_FLIGHT

#: Most pilots on a page.
MAX_PILOTS_PER_PAGE = 10_000

PRESENT = "state IN ('{pilot.ACTIVE}', '{pilot.DRAINING}')"
_UNSEEN = """state = '{pilot.LOST}' AND acknowledged_at IS NULL AND NOT started_again
    AND removed_at IS NULL"""
_PAST = """away_since > now() - interval '1 day' AND removed_at IS NULL
    AND (state = '{pilot.GONE}' OR acknowledged_at IS NOT NULL OR started_again)"""

#: The columns of a pilot and its jobs in flight, for ``build_pilot``.
PILOT_COLUMNS = f"""p.uid, name, host, state, slots, version, resources, engines, sandbox,
    registered_at, seen_at, finished, failed, coalesce(f.leased, 0) AS leased,
    coalesce(f.running, 0) AS running, acknowledged_by, acknowledged_at, stopping, to_load,
    CASE WHEN {PRESENT} THEN loaded ELSE '[]' END AS loaded,
    CASE WHEN {PRESENT} THEN trouble ELSE '' END AS trouble,
    CASE WHEN {PRESENT} THEN coalesce(f.busy, 0) ELSE 0 END AS busy, {ALLOCATION}"""

#: For each kind of pilots, the condition and the time that orders them (latest first): present
#: ones, by the index pilots_present; lost ones that nobody has acknowledged and that did not start
#: again, by pilots_unseen; others that ended within a day, by pilots_away.
_KINDS = ((PRESENT, "registered_at"), (_UNSEEN, "away_since"), (_PAST, "away_since"))
_ALL, _NEED_ATTENTION = range(len(_KINDS)), (1,)


def _build_kind_subquery(number: int) -> str:
    """Return the subquery of the pilots of a kind from a place on.

    $1 is a name or NULL, $2 the number of rows.
    """
    which, time = _KINDS[number]
    at, uid = 3 + 2 * number, 4 + 2 * number
    return f"""(
    SELECT {number} AS kind, {time} AS place, p.* FROM pilots AS p
    WHERE {which}
        AND ({time}, uid) < (${at}::text::timestamptz, ${uid}::uuid)
        AND ($1::text IS NULL OR name = $1)
    ORDER BY {time} DESC, uid DESC LIMIT $2)"""


SELECT_PILOTS = statement(f"""
WITH in_flight AS ({IN_FLIGHT})
SELECT {PILOT_COLUMNS},
    kind || '/' || replace(place::text, ' ', 'T') || '/' || p.uid AS cursor
FROM ({" UNION ALL ".join(_build_kind_subquery(number) for number in _ALL)}) AS p
LEFT JOIN in_flight AS f ON f.pilot = p.uid
ORDER BY kind, place DESC, p.uid DESC LIMIT $2
""")

#: Statements by the numbers of the kinds that are counted.
COUNT_PILOTS = {
    numbers: statement(
        "SELECT "
        + " + ".join(
            f"(SELECT count(*) FROM pilots AS p WHERE {_KINDS[number][0]} AND ($1::text IS NULL OR"
            " name = $1))"
            for number in numbers
        )
    )
    for numbers in (tuple(_ALL), _NEED_ATTENTION)
}

_BEGIN, _END = ("infinity", UUID(int=(1 << 128) - 1)), ("-infinity", UUID(int=0))


@dataclass(frozen=True, slots=True)
class PilotQuery:
    """Which page of pilots to return.

    Attributes:
        name: Only pilots with this name.
        attention: Only lost pilots that nobody has acknowledged and that did not start again.
    """

    name: str | None = None
    attention: bool = False
    after: str | None = None
    limit: int = MAX_PILOTS_PER_PAGE


async def list_pilot_page(connection: Connection, query: PilotQuery) -> PilotList:
    """Return a page of pilots.

    Raises:
        InvalidCursor: ``after`` is not a cursor of this list.
    """
    numbers = _NEED_ATTENTION if query.attention else tuple(_ALL)
    rows = await connection.fetch(
        SELECT_PILOTS, query.name, query.limit + 1, *find_page_places(query.after, numbers)
    )
    is_last, rows = len(rows) <= query.limit, rows[: query.limit]
    pilots = [build_pilot(dict(row)) for row in rows]
    total = await connection.fetchval(COUNT_PILOTS[numbers], query.name)
    return PilotList(pilots=pilots, after=None if is_last else rows[-1]["cursor"], total=total)


def find_page_places(after: str | None, kind_numbers: Collection[int]) -> list[Any]:
    """Return where the page begins in each kind: at its begin, behind the cursor, or at its end."""
    kind, place = (-1, _BEGIN) if not after else _parse_place(after)
    places = [place if number == kind else _BEGIN if number > kind else _END for number in _ALL]
    return [
        value for number in _ALL for value in (places[number] if number in kind_numbers else _END)
    ]


def _parse_place(after: str) -> tuple[int, tuple[str, UUID]]:
    kind, _, rest = after.partition("/")
    time, _, uid = rest.partition("/")
    try:
        # PostgreSQL rejects an invalid time (422).
        return [str(number) for number in _ALL].index(kind), (time, UUID(uid))
    except ValueError as error:
        raise InvalidCursor(after) from error


def build_pilot(row: dict[str, Any]) -> Pilot:
    """Return the pilot of a row."""
    by, at = row.pop("acknowledged_by"), row.pop("acknowledged_at")
    row.pop("cursor", None)
    return Pilot(**row, acknowledged=None if at is None else Acknowledgement(by=by, at=at))
