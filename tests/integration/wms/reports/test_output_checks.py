"""The WMS checks that reported outputs exist before an attempt counts as finished."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import ErrorClass, JobState, ReportAnswer
from sluice.contracts.pilots.output_files import OutputFile
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.reports.check_outputs import OutputCheck
from wms.usecases.tasks.read_tasks import read_job

DATA = b"a picture"
SUM = f"sha256:{sha256(DATA).hexdigest()}"


def looking_at(wms: WmsFixture, dms: DmsClient, *, content: bool) -> WmsFixture:
    check = OutputCheck(dms, content=content)
    return WmsFixture(replace(wms.context, output_check=check), wms.tasks)


def another(path: Path) -> None:
    path.write_bytes(DATA[::-1])


def longer(path: Path) -> None:
    path.write_bytes(DATA + b"!")


@pytest.mark.parametrize(
    ("spoil", "content", "why"),
    [
        (None, False, None),
        (None, True, None),
        (Path.unlink, False, "does not exist"),
        (Path.unlink, True, "there is no such file"),
        (longer, False, "has 10 bytes, not 9"),
        (longer, True, "expected 9 bytes, found 10 bytes"),
        (another, False, None),
        (another, True, f"expected {SUM}"),
    ],
)
async def test_attempt_fails_if_a_reported_output_is_missing_or_differs(
    wms: WmsFixture,
    dms: DmsClient,
    tmp_path: Path,
    *,
    spoil: Callable[[Path], None] | None,
    content: bool,
    why: str | None,
) -> None:
    looking = looking_at(wms, dms, content=content)
    task = await looking.add_task(make_task(dat_out_url=f"file://{tmp_path}/out"), jobs=1)
    pilot = await looking.add_pilot()
    (job,) = await looking.lease(pilot)
    path = tmp_path / "out" / "00000000.1-0.png"
    path.parent.mkdir()
    path.write_bytes(DATA)
    if spoil is not None:
        spoil(path)
    url = f"file://{path}"
    output = OutputFile(
        port=task.main_output.port, name=path.name, size=len(DATA), checksum=SUM, url=url
    )
    report = looking.make_report(job, outputs=[output])
    assert await looking.report(pilot, report) == [ReportAnswer.ACCEPTED]
    details = await read_job(looking.context, job.id)
    if why is None:
        assert details.state is JobState.FINISHED
        return
    (attempt,) = details.attempts
    assert (details.state, attempt.error_class) == (JobState.READY, ErrorClass.STAGE_OUT_FAILED)
    assert f"output file '{path.name}' at {url}: {why}" in attempt.message


async def test_report_is_accepted_while_the_catalogue_is_unavailable(wms: WmsFixture) -> None:
    async with httpx.AsyncClient(base_url="http://127.0.0.1:9") as nobody:
        looking = looking_at(wms, DmsClient(nobody), content=False)
        task = await looking.add_task(make_task(), jobs=1)
        pilot = await looking.add_pilot()
        (job,) = await looking.lease(pilot)
        assert await looking.finish(pilot, job) == [ReportAnswer.ACCEPTED]
    assert (await looking.status(task)).finished == 1
