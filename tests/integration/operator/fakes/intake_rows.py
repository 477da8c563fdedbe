"""A fake intake for tests of the operator service."""

from uuid import UUID

from fastapi import APIRouter

from sluice.contracts.chains.intake import (
    Dismissed,
    Rematch,
    Rematched,
    RematchedAll,
    Tie,
    TieList,
    Unmatched,
    UnmatchedList,
)
from sluice.contracts.common.base import Timestamp
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.append_only import ScheduleList, ScheduleState, TriggerDepth


def intake_routes(
    unmatched: dict[UUID, Unmatched],
    ties: list[Tie],
    rematches: dict[UUID, str],
    schedules: list[ScheduleState],
) -> APIRouter:
    """``rematches`` maps a data set to the template that takes it when it is matched again."""
    router = APIRouter(prefix="/api/v1")
    _add_dismissals(router, unmatched)

    @router.get("/unmatched")
    async def list_unmatched(limit: int = 200) -> UnmatchedList:
        return UnmatchedList(datasets=list(unmatched.values())[:limit], total=len(unmatched))

    @router.get("/schedules")
    async def list_schedules(template: str) -> ScheduleList:
        return ScheduleList(schedules=[one for one in schedules if one.template == template])

    @router.get("/generations")
    async def generations() -> TriggerDepth:
        return TriggerDepth(most=5)

    @router.get("/ties")
    async def list_ties() -> TieList:
        return TieList(ties=ties)

    @router.post("/rematch")
    async def rematch(request: Rematch) -> Rematched:
        if request.dataset_uid not in unmatched:
            raise NotFound(f"data set {request.dataset_uid} is not among the unmatched ones")
        template = rematches.get(request.dataset_uid)
        if template is None:
            return Rematched(template=None, reason="no template matches")
        del unmatched[request.dataset_uid]
        return Rematched(template=template)

    @router.post("/rematch-all")
    async def rematch_all() -> RematchedAll:
        taken = [uid for uid in unmatched if uid in rematches]
        for uid in taken:
            del unmatched[uid]
        return RematchedAll(matched=len(taken), gone=0, left=len(unmatched))

    return router


def _add_dismissals(router: APIRouter, unmatched: dict[UUID, Unmatched]) -> None:
    @router.delete("/unmatched/{uid}", status_code=204)
    async def dismiss(uid: UUID) -> None:
        if unmatched.pop(uid, None) is None:
            raise NotFound(f"data set {uid} is not among the unmatched ones")

    @router.delete("/unmatched")
    async def dismiss_all(until: Timestamp) -> Dismissed:
        uids = [uid for uid, one in unmatched.items() if one.since <= until]
        for uid in uids:
            del unmatched[uid]
        return Dismissed(dismissed=len(uids))
