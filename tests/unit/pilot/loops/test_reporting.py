"""Tests of how a pilot sends reports, also to a WMS of the previous release."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from pilot.loops.reporting import send_batch
from pilot.reports.file_remover import FileRemover
from pilot.reports.outbox import Outbox
from pilot.wms_session import WmsSession
from sluice.clients.wms import WmsClient
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer
from sluice.contracts.pilots.pilots import AttemptReport, NodeResources, RegisterPilot, StorageUrls


def report(job: int, **more: Any) -> AttemptReport:
    return AttemptReport(
        id=job,
        attempt=1,
        outcome=AttemptOutcome.FAILED,
        error_class=ErrorClass.OUT_OF_MEMORY,
        ended_at=datetime.now(UTC),
        **more,
    )


async def test_reports_to_the_previous_release_leave_out_unknown_fields(
    tmp_path: Path,
) -> None:
    taken: list[dict[str, Any]] = []

    def before(request: httpx.Request) -> httpx.Response:
        reports = json.loads(request.content)["reports"]
        if any({"gpu_memory", "checkpoint", "no_room", "spent"} & each.keys() for each in reports):
            wrong = {"type": "urn:sluice:problem:unprocessable", "title": "x", "status": 422}
            return httpx.Response(
                422,
                json={**wrong, "detail": "gpu_memory is unknown"},
                headers={"content-type": "application/problem+json"},
            )
        taken.extend(reports)
        tokens = [{"id": each["id"], "attempt": each["attempt"]} for each in reports]
        return httpx.Response(
            200, json={"answers": [{**t, "answer": ReportAnswer.ACCEPTED} for t in tokens]}
        )

    pilot = RegisterPilot(
        uid=uuid4(),
        name="p",
        host="h",
        slots=1,
        resources=NodeResources(cores=1, ram=1, disk=1),
        version="0",
    )

    async def storages() -> StorageUrls:
        raise AssertionError("no file is removed")

    async with httpx.AsyncClient(
        transport=httpx.MockTransport(before), base_url="http://wms.test"
    ) as http:
        outbox = Outbox(tmp_path, FileRemover(storages))
        batch = [report(1), report(2, gpu_memory=8_000), report(3, checkpoint=True)]
        for each in batch:
            outbox.add(each)
        await send_batch(batch, outbox, WmsSession(WmsClient(http), pilot))
    assert sorted(each["id"] for each in taken) == [1, 2, 3]
    assert outbox.empty.is_set()
