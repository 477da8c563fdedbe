"""Statements for people who watch human tasks."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import AskItemState
from sluice.contracts.human_tasks.ask import Ask
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wfms.ask.db.links import HumanStepPlace

_SELECT_STEPS = statement("""
-- Steps with questions now or within the last 30 days.
WITH steps AS (
    SELECT template, step, owner_group,
        (array_agg(ask ORDER BY opened_at DESC))[1] AS ask,
        count(*) FILTER (WHERE ended_at IS NULL) AS tasks,
        coalesce(max(concat_ws('; ', nullif(gold_reason, ''), nullif(reason, '')))
            FILTER (WHERE ended_at IS NULL), '') AS reason
    FROM questions
    WHERE (ended_at IS NULL OR ended_at > now() - interval '30 days')
        AND ($1::text[] IS NULL OR owner_group = ANY($1::text[]))
    GROUP BY template, step, owner_group
)
SELECT steps.*, b.browsers, b.excluded, a.answers, a.last_hour, a.seconds
FROM steps CROSS JOIN LATERAL (
    SELECT count(*) AS browsers, count(*) FILTER (WHERE state = '{browser.EXCLUDED}') AS excluded
    FROM browsers WHERE template = steps.template AND step = steps.step
        AND owner_group = steps.owner_group
) AS b CROSS JOIN LATERAL (
    SELECT count(*) AS answers,
        count(*) FILTER (WHERE a.answered_at > now() - interval '1 hour') AS last_hour,
        coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY a.seconds), 0) AS seconds
    FROM assignments AS a JOIN browsers ON browsers.uid = a.browser_uid
    WHERE browsers.template = steps.template AND browsers.step = steps.step
        AND browsers.owner_group = steps.owner_group AND a.answer IS NOT NULL
) AS a ORDER BY template, step, owner_group
""")

_COUNT_ITEMS_BY_STATE = """
SELECT template, step, owner_group, state, count(*) AS number FROM items
WHERE template = ANY($1::text[]) AND known_answer IS NULL
GROUP BY template, step, owner_group, state
"""

_SELECT_OPEN_QUESTIONS = """
SELECT task_uid, ask FROM questions
WHERE template = $1 AND step = $2 AND owner_group = $3 AND ended_at IS NULL
ORDER BY opened_at, task_uid
"""

_FIND_TASK_WITH_OPEN_ITEMS = statement("""
SELECT task_uid FROM unnest($1::uuid[]) WITH ORDINALITY AS tasks (task_uid, place)
WHERE EXISTS (
    SELECT FROM items WHERE items.task_uid = tasks.task_uid AND state = '{item.OPEN}'
        AND known_answer IS NULL AND reason = ''
) ORDER BY place LIMIT 1
""")

_SELECT_STEP_OF_BROWSER = "SELECT template, step, owner_group FROM browsers WHERE uid = $1"

_SELECT_NEWEST_QUESTION = """
SELECT ask FROM questions WHERE template = $1 AND step = $2 AND owner_group = $3
ORDER BY ended_at IS NULL DESC, opened_at DESC LIMIT 1
"""

_SELECT_ALL_ANSWERS = """
SELECT i.task_uid, i.seq, i.file ->> 'name' AS name, i.known_answer, i.state, i.answer AS decided,
    a.browser_uid, b.person, a.answer, a.answered_at, a.seconds, a.counted
FROM assignments AS a
JOIN items AS i ON i.uid = a.item_uid
JOIN browsers AS b ON b.uid = a.browser_uid
WHERE i.template = $1 AND i.step = $2 AND i.owner_group = $3 AND a.answer IS NOT NULL
ORDER BY i.position, a.answered_at
"""


async def list_human_steps(
    connection: Connection, groups: frozenset[str] | None
) -> list[Mapping[str, Any]]:
    """Return the steps with questions that members of ``groups`` see, or all steps for None."""
    visible_groups = None if groups is None else sorted(groups)
    return [dict(row) for row in await connection.fetch(_SELECT_STEPS, visible_groups)]


async def count_items_by_state(
    connection: Connection, templates: list[str]
) -> dict[HumanStepPlace, dict[AskItemState, int]]:
    """Return the numbers of items by step and state."""
    counts: dict[HumanStepPlace, dict[AskItemState, int]] = {}
    for row in await connection.fetch(_COUNT_ITEMS_BY_STATE, templates):
        place = HumanStepPlace(row["template"], row["step"], row["owner_group"])
        counts.setdefault(place, {})[AskItemState(row["state"])] = row["number"]
    return counts


async def find_place_of_browser(connection: Connection, browser: UUID) -> HumanStepPlace | None:
    """Return where a browser answers, or None if it is unknown."""
    row = await connection.fetchrow(_SELECT_STEP_OF_BROWSER, browser)
    return None if row is None else HumanStepPlace(*row)


async def find_ask(connection: Connection, place: HumanStepPlace) -> Ask | None:
    """Return what the newest task of a step asks, or None if the step never asked anything."""
    ask = await connection.fetchval(_SELECT_NEWEST_QUESTION, *place)
    return None if ask is None else Ask.model_validate(ask)


async def find_current_ask(
    connection: Connection, place: HumanStepPlace
) -> tuple[Ask, tuple[UUID, ...]] | None:
    """Return what a step asks now and the tasks that ask it.

    If tasks ask different things, the oldest with open items counts, or else the newest. If no task
    asks now, it returns the last question without tasks, or None if the step never asked anything.
    """
    rows = await connection.fetch(_SELECT_OPEN_QUESTIONS, *place)
    asks = {row["task_uid"]: row["ask"] for row in rows}
    if not asks:
        ask = await find_ask(connection, place)
        return None if ask is None else (ask, ())
    *older, chosen = asks
    if any(asks[task] != asks[chosen] for task in older):  # otherwise there is nothing to choose
        chosen = await connection.fetchval(_FIND_TASK_WITH_OPEN_ITEMS, list(asks)) or chosen
    same = tuple(task for task, ask in asks.items() if ask == asks[chosen])
    return Ask.model_validate(asks[chosen]), same


async def stream_answers(
    connection: Connection, place: HumanStepPlace
) -> AsyncIterator[dict[str, Any]]:
    """Yield all answers to a step, item by item. Call it within a transaction."""
    async for row in connection.cursor(_SELECT_ALL_ANSWERS, *place, prefetch=1000):
        yield dict(row)
