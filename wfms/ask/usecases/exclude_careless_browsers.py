"""Find browsers that answer carelessly, and exclude them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog

from sluice.contracts.common.states import BrowserState
from sluice.servicekit.database import Connection
from wfms.ask.db.scoring import (
    list_gold_answers,
    list_unscored_items,
    list_votes,
    lock_evidence,
    mark_gold_scored,
    mark_items_scored,
    store_evidence,
    try_lock_scoring,
)
from wfms.ask.domain.trust import LIMIT, AnswerReference, others_agree_on, score
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.set_browser_state import set_browser_state

log = structlog.get_logger(__name__)

PAGE = 1000

#: Browser, kind of reference, right answer, answer of the browser.
_Comparison = tuple[UUID, AnswerReference, str, str]


async def exclude_careless_browsers(context: AskContext) -> bool:
    """Score browsers by their new answers.

    One instance does so at a time. Each answer that can no longer be taken back is compared once
    with the known or agreed answer. Careless browsers are excluded. Their items are opened again
    where too few other browsers agree.

    Returns:
        Whether there are more answers to score.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        if not await try_lock_scoring(connection):
            return False
        comparisons, full = await _new_evidence(connection, context.rules.undo)
        careless = await _store_scores(connection, comparisons)
    for browser, reason in careless.items():
        done = await set_browser_state(
            context, browser, BrowserState.EXCLUDED, reason=reason, set_by=None
        )
        if done:
            log.info("ask.browser_excluded", browser=str(browser), reason=reason)
    return full


async def _new_evidence(connection: Connection, older: timedelta) -> tuple[list[_Comparison], bool]:
    gold = await list_gold_answers(connection, older=older, limit=PAGE)
    await mark_gold_scored(connection, [(item, browser) for item, browser, _, _ in gold])
    items = await list_unscored_items(connection, older=older, limit=PAGE)
    votes = await list_votes(connection, items)
    await mark_items_scored(connection, items)
    comparisons = [
        (browser, AnswerReference.GOLD, right, answer) for _, browser, answer, right in gold
    ]
    comparisons += [
        one for item_votes in votes.values() for one in _compare_with_others(item_votes)
    ]
    return comparisons, PAGE in (len(gold), len(items))


def _compare_with_others(votes: Iterable[tuple[UUID, str]]) -> Iterable[_Comparison]:
    votes = list(votes)
    numbers = Counter(answer for _, answer in votes)
    for browser, answer in votes:
        if (right := others_agree_on(numbers, answer)) is not None:
            yield browser, AnswerReference.PEERS, right, answer


async def _store_scores(connection: Connection, comparisons: list[_Comparison]) -> dict[UUID, str]:
    """Store the new evidence and scores; return the browsers to be excluded, and why."""
    if not comparisons:
        return {}
    by_browser: dict[UUID, list[_Comparison]] = defaultdict(list)
    for comparison in comparisons:
        by_browser[comparison[0]].append(comparison)
    stored: dict[UUID, tuple[Mapping[str, Any], float]] = {}
    careless: dict[UUID, str] = {}
    for browser in await lock_evidence(connection, sorted(by_browser)):
        evidence = _add_comparisons(browser.evidence, by_browser[browser.uid])
        value = score(evidence, browser.answers)
        stored[browser.uid] = evidence, value
        if value > LIMIT and browser.state is BrowserState.COUNTED and not browser.by_hand:
            careless[browser.uid] = _reason(value)
    await store_evidence(connection, stored)
    return careless


def _add_comparisons(
    evidence: Mapping[str, Any], comparisons: Iterable[_Comparison]
) -> dict[str, Any]:
    rows = {
        kind: {right: dict(row) for right, row in answers.items()}
        for kind, answers in evidence.items()
    }
    for _, kind, right, answer in comparisons:
        row = rows.setdefault(kind.value, {}).setdefault(right, {})
        row[answer] = row.get(answer, 0) + 1
    return rows


def _reason(value: float) -> str:
    return (
        "its answers are explained better by answering without looking at the items"
        f" (score {value:.1f}, above {LIMIT:.1f})"
    )
