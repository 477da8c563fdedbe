"""The pilots of a fake WMS."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from fastapi import APIRouter

from sluice.contracts.chains.attention import Acknowledge, Acknowledgement
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, PilotState
from sluice.contracts.jobs.warm_workers import LoadTool
from sluice.contracts.pilots.pilot_detail import KnownWork, PilotDetail, PilotJob, PilotStep
from sluice.contracts.pilots.pilot_list import Pilot, PilotList


def detail_of(pilot: Pilot) -> PilotDetail:
    """Return a pilot with a plausible hour of work."""
    now = datetime.now(UTC)

    def attempt(number: int, **more: Any) -> PilotJob:
        fields = {
            "job_id": 4711 + number,
            "attempt": 1,
            "task_uid": UUID(int=1),
            "chain_uid": UUID(int=2),
            "step": "ocr-transcribe",
            "seq": number,
            "leased_at": now - timedelta(minutes=number + 1),
            "started_at": now - timedelta(minutes=number + 1),
        } | more
        return PilotJob.model_validate(fields)

    refused = {
        "outcome": AttemptOutcome.FAILED,
        "error_class": ErrorClass.TOOL_REFUSED,
        "ended_at": now,
        "seconds": 0.4,
        "message": "the page is not an image",
    }
    ended = [
        attempt(number, outcome=AttemptOutcome.FINISHED, ended_at=now, seconds=1.5 + number)
        for number in range(2, 5)
    ]
    return PilotDetail(
        pilot=pilot,
        jobs=[attempt(0), attempt(1, started_at=None)],
        ended=[*ended, attempt(5, **refused)],
        failures=[attempt(5, **refused)],
        steps=[PilotStep(step="ocr-transcribe", template="volume", finished=3, failed=1, mean=2.5,
                         longest=5.5)],
        attempts=4,
        known=[KnownWork(step="ocr-transcribe", template="volume", jobs=200, failures=6, seconds=36,
                         likely=21_600, failing=0.51)],
    )  # fmt: skip


def pilot_routes(pilots: list[Pilot]) -> APIRouter:
    router = APIRouter(prefix="/api/v1/pilots")

    @router.get("")
    async def list_pilots(attention: bool = False, limit: int = 10_000) -> PilotList:
        lost = [
            pilot for pilot in pilots if pilot.state is PilotState.LOST and not pilot.acknowledged
        ]
        present = [
            pilot for pilot in pilots if pilot.state in {PilotState.ACTIVE, PilotState.DRAINING}
        ]
        pilots_found = (
            lost
            if attention
            else [*present, *lost, *(pilot for pilot in pilots if pilot not in [*present, *lost])]
        )
        return PilotList(
            pilots=pilots_found[:limit],
            after="there" if len(pilots_found) > limit else None,
            total=len(pilots_found),
        )

    def _place(uid: UUID) -> int:
        place = next((place for place, pilot in enumerate(pilots) if pilot.uid == uid), None)
        if place is None:
            raise NotFound(f"there is no pilot {uid}")
        return place

    @router.get("/{uid}")
    async def one(uid: UUID) -> PilotDetail:
        return detail_of(pilots[_place(uid)])

    @router.post("/{uid}/stop", status_code=204)
    async def stop(uid: UUID) -> None:
        changed = {"state": PilotState.DRAINING, "stopping": True}
        pilots[_place(uid)] = pilots[_place(uid)].model_copy(update=changed)

    @router.put("/{uid}/load", status_code=204)
    async def load(uid: UUID, request: LoadTool) -> None:
        pilots[_place(uid)] = pilots[_place(uid)].model_copy(update={"to_load": request.step})

    @router.delete("/{uid}", status_code=204)
    async def remove(uid: UUID) -> None:
        if pilots[_place(uid)].state is not PilotState.LOST:
            raise Conflict("stop it first")
        del pilots[_place(uid)]

    @router.post("/{uid}/acknowledge", status_code=204)
    async def acknowledge(uid: UUID, request: Acknowledge) -> None:
        place = _place(uid)
        acknowledgement = Acknowledgement(by=request.by, at=datetime.now(UTC))
        pilots[place] = pilots[place].model_copy(update={"acknowledged": acknowledgement})

    return router
