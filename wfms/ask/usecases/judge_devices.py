"""Find browsers that answer carelessly, and exclude them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog

from sluice.contracts.common.states import DeviceState
from sluice.servicekit.database import Connection
from wfms.ask.db.devices import (
    alone,
    decided_items,
    evidence_of,
    gold_answers,
    gold_judged,
    items_judged,
    store_evidence,
    votes_on,
)
from wfms.ask.domain.trust import LIMIT, AnswerReference, others_agree_on, score
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.set_device_state import apply_device_state

log = structlog.get_logger(__name__)

PAGE = 1000

#: Browser, kind of reference, right answer, answer of the browser.
_Seen = tuple[UUID, AnswerReference, str, str]


async def judge_devices(context: AskContext) -> bool:
    """Judge browsers by their new answers.

    One instance does so at a time. Each answer that can no longer be taken back is compared once
    with the known or agreed answer. Careless browsers are excluded. Their items are opened again
    where too few other browsers agree.

    Returns:
        Whether there are more answers to judge.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        if not await alone(connection):
            return False
        seen, full = await _new_evidence(connection, context.rules.undo)
        found = await _weighed(connection, seen)
    for device, reason in found.items():
        done = await apply_device_state(
            context, device, DeviceState.EXCLUDED, reason=reason, set_by=None
        )
        if done:
            log.info("ask.device_excluded", device=str(device), reason=reason)
    return full


async def _new_evidence(connection: Connection, older: timedelta) -> tuple[list[_Seen], bool]:
    gold = await gold_answers(connection, older=older, most=PAGE)
    await gold_judged(connection, [(item, device) for item, device, _, _ in gold])
    items = await decided_items(connection, older=older, most=PAGE)
    votes = await votes_on(connection, items)
    await items_judged(connection, items)
    seen = [(device, AnswerReference.GOLD, known, answer) for _, device, answer, known in gold]
    seen += [one for of_item in votes.values() for one in _beside_others(of_item)]
    return seen, PAGE in (len(gold), len(items))


def _beside_others(votes: Iterable[tuple[UUID, str]]) -> Iterable[_Seen]:
    votes = list(votes)
    numbers = Counter(answer for _, answer in votes)
    for device, answer in votes:
        if (right := others_agree_on(numbers, answer)) is not None:
            yield device, AnswerReference.PEERS, right, answer


async def _weighed(connection: Connection, seen: list[_Seen]) -> dict[UUID, str]:
    """Store the new evidence and scores; return the browsers to be excluded, and why."""
    if not seen:
        return {}
    new: dict[UUID, list[_Seen]] = defaultdict(list)
    for one in seen:
        new[one[0]].append(one)
    stored: dict[UUID, tuple[Mapping[str, Any], float]] = {}
    found: dict[UUID, str] = {}
    for device in await evidence_of(connection, sorted(new)):
        evidence = _with(device.evidence, new[device.uid])
        value = score(evidence, device.answers)
        stored[device.uid] = evidence, value
        if value > LIMIT and device.standing is DeviceState.COUNTED and not device.by_hand:
            found[device.uid] = _reason(value)
    await store_evidence(connection, stored)
    return found


def _with(evidence: Mapping[str, Any], seen: Iterable[_Seen]) -> dict[str, Any]:
    rows = {kind: {right: dict(row) for right, row in of.items()} for kind, of in evidence.items()}
    for _, kind, right, answer in seen:
        row = rows.setdefault(kind.value, {}).setdefault(right, {})
        row[answer] = row.get(answer, 0) + 1
    return rows


def _reason(value: float) -> str:
    return (
        "its answers are explained better by answering without looking at the items"
        f" (score {value:.1f}, above {LIMIT:.1f})"
    )
