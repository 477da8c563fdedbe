"""A fake intake for tests of the operator service."""

from uuid import UUID

from fastapi import APIRouter

from sluice.contracts.chains.intake import (
    Dismissed,
    Rematch,
    Rematched,
    RematchedAll,
    TieList,
    UnmatchedList,
    WaitingHandover,
)
from sluice.contracts.common.base import Timestamp
from sluice.contracts.data.append_only import ScheduleList, TriggerDepth
from tests.integration.operator.fakes.rows import Rows
from wfms.intake.usecases.new_decision import DatasetNotUnmatched, UnmatchedDatasetDeleted


def make_intake_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")
    _add_dismissals(router, rows)
    _add_rematches(router, rows)

    @router.get("/unmatched")
    async def list_unmatched(limit: int = 200) -> UnmatchedList:
        newest = sorted(rows.unmatched.values(), key=lambda one: one.since, reverse=True)
        return UnmatchedList(datasets=newest[:limit], total=len(newest))

    @router.get("/handovers")
    async def handover(dataset_uid: UUID) -> WaitingHandover:
        return WaitingHandover(reason=None)

    @router.get("/schedules")
    async def list_schedules(template: str | None = None) -> ScheduleList:
        return ScheduleList(
            schedules=[one for one in rows.schedules if template in {None, one.template}]
        )

    @router.get("/generations")
    async def generations() -> TriggerDepth:
        return TriggerDepth(most=5)

    @router.get("/ties")
    async def list_ties() -> TieList:
        return TieList(ties=rows.ties)

    return router


def _add_rematches(router: APIRouter, rows: Rows) -> None:
    @router.post("/rematch")
    async def rematch(request: Rematch) -> Rematched:
        uid = request.dataset_uid
        if uid not in rows.unmatched:
            raise DatasetNotUnmatched(uid)
        if _is_deleted(rows, uid):
            del rows.unmatched[uid]
            raise UnmatchedDatasetDeleted(uid)
        template = rows.rematches.get(uid)
        if template is None:
            return Rematched(template=None, reason="no template matches")
        del rows.unmatched[uid]
        return Rematched(template=template)

    @router.post("/rematch-all")
    async def rematch_all() -> RematchedAll:
        gone = [uid for uid in rows.unmatched if _is_deleted(rows, uid)]
        taken = [uid for uid in rows.unmatched if uid in rows.rematches and uid not in gone]
        for uid in (*gone, *taken):
            del rows.unmatched[uid]
        return RematchedAll(matched=len(taken), gone=len(gone), left=len(rows.unmatched))


def _is_deleted(rows: Rows, uid: UUID) -> bool:
    dataset = rows.datasets.get(uid)
    return dataset is not None and not dataset.usable


def _add_dismissals(router: APIRouter, rows: Rows) -> None:
    @router.delete("/unmatched/{uid}", status_code=204)
    async def dismiss(uid: UUID) -> None:
        if rows.unmatched.pop(uid, None) is None:
            raise DatasetNotUnmatched(uid)

    @router.delete("/unmatched")
    async def dismiss_all(until: Timestamp) -> Dismissed:
        uids = [uid for uid, one in rows.unmatched.items() if one.since <= until]
        for uid in uids:
            del rows.unmatched[uid]
        return Dismissed(dismissed=len(uids))
