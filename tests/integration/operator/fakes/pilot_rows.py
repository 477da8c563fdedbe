"""The pilots of a fake WMS."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from fastapi import APIRouter

from sluice.contracts.chains.attention import Acknowledge, Acknowledgement, AlreadyAcknowledged
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, PilotState
from sluice.contracts.jobs.warm_workers import LoadTool
from sluice.contracts.pilots.pilot_detail import KnownWork, PilotDetail, PilotJob, PilotStep
from sluice.contracts.pilots.pilot_list import Pilot, PilotList
from tests.integration.operator.fakes.rows import Rows
from wms.usecases.leasing.load_tool import PilotTakesNoJobs
from wms.usecases.pilots.acknowledge_pilot import PilotNotLost
from wms.usecases.pilots.remove_pilot import PilotPresent
from wms.usecases.pilots.stop_pilot import PilotSignedOff

_PRESENT = (PilotState.ACTIVE, PilotState.DRAINING)


def make_detail(pilot: Pilot) -> PilotDetail:
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


def make_pilot_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1/pilots")
    _add_reading(router, rows)
    _add_requests(router, rows)
    _add_requests_about_lost_ones(router, rows)
    return router


def _add_reading(router: APIRouter, rows: Rows) -> None:
    @router.get("")
    async def list_pilots(
        name: str | None = None,
        attention: bool = False,
        after: int = 0,
        limit: int = 10_000,
    ) -> PilotList:
        present, lost, past = _split_by_kind(
            [one for one in rows.pilots if one.uid not in rows.removed_pilots]
        )
        pilots_found = [
            pilot
            for pilot in (lost if attention else [*present, *lost, *past])
            if name in {None, pilot.name}
        ]
        last = after + limit
        return PilotList(
            pilots=pilots_found[after:last],
            after=str(last) if len(pilots_found) > last else None,
            total=len(pilots_found),
        )

    @router.get("/{uid}")
    async def one(uid: UUID) -> PilotDetail:
        return make_detail(_get(rows.pilots, uid))


def _split_by_kind(pilots: list[Pilot]) -> tuple[list[Pilot], list[Pilot], list[Pilot]]:
    """Return present, unacknowledged lost, and other pilots, the latest of each kind first."""
    present, lost, past = [], [], []
    for pilot in sorted(pilots, key=lambda pilot: pilot.registered_at, reverse=True):
        if pilot.state in _PRESENT:
            present.append(pilot)
        elif pilot.state is PilotState.LOST and pilot.acknowledged is None:
            lost.append(pilot)
        else:
            past.append(pilot)
    return present, lost, past


def _place(pilots: list[Pilot], uid: UUID) -> int:
    place = next((place for place, pilot in enumerate(pilots) if pilot.uid == uid), None)
    if place is None:
        raise NotFound(f"pilot {uid} has not registered", pilot=uid)
    return place


def _get(pilots: list[Pilot], uid: UUID) -> Pilot:
    return pilots[_place(pilots, uid)]


def _change(pilots: list[Pilot], uid: UUID, **values: object) -> None:
    pilots[_place(pilots, uid)] = _get(pilots, uid).model_copy(update=values)


def _add_requests(router: APIRouter, rows: Rows) -> None:
    @router.post("/{uid}/stop", status_code=204)
    async def stop(uid: UUID) -> None:
        state = _get(rows.pilots, uid).state
        if state is PilotState.GONE:
            raise PilotSignedOff(uid)
        _change(
            rows.pilots,
            uid,
            state=PilotState.DRAINING if state is PilotState.ACTIVE else state,
            stopping=True,
        )

    @router.put("/{uid}/load", status_code=204)
    async def load(uid: UUID, request: LoadTool) -> None:
        if _get(rows.pilots, uid).state is not PilotState.ACTIVE:
            raise PilotTakesNoJobs(uid)
        _change(rows.pilots, uid, to_load=request.step)


def _add_requests_about_lost_ones(router: APIRouter, rows: Rows) -> None:
    @router.delete("/{uid}", status_code=204)
    async def remove(uid: UUID) -> None:
        if (state := _get(rows.pilots, uid).state) in _PRESENT:
            raise PilotPresent(uid, state)
        rows.removed_pilots.add(uid)

    @router.post("/{uid}/acknowledge", status_code=204)
    async def acknowledge(uid: UUID, request: Acknowledge) -> None:
        pilot = _get(rows.pilots, uid)
        if pilot.state is not PilotState.LOST:
            raise PilotNotLost(uid, pilot.state)
        if (first := pilot.acknowledged) is None:
            now = datetime.now(UTC)
            _change(rows.pilots, uid, acknowledged=Acknowledgement(by=request.by, at=now))
        elif first.by != request.by:
            raise AlreadyAcknowledged(f"pilot {uid}", first.by, first.at)
