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
from wms.usecases.tasks.get_job import get_job

DATA = b"a picture"
SUM = f"sha256:{sha256(DATA).hexdigest()}"


def make_checking_wms(wms: WmsFixture, dms: DmsClient, *, content: bool) -> WmsFixture:
    check = OutputCheck(dms, content=content)
    return WmsFixture(replace(wms.context, output_check=check), wms.tasks)


def replace_file(path: Path) -> None:
    path.write_bytes(DATA[::-1])


def extend_file(path: Path) -> None:
    path.write_bytes(DATA + b"!")


@pytest.mark.parametrize(
    ("damage", "content", "reason"),
    [
        (None, False, None),
        (None, True, None),
        (Path.unlink, False, "does not exist"),
        (Path.unlink, True, "there is no such file"),
        (extend_file, False, "has 10 bytes, not 9"),
        (extend_file, True, "expected 9 bytes, found 10 bytes"),
        (replace_file, False, None),
        (replace_file, True, f"expected {SUM}"),
    ],
)
async def test_attempt_fails_if_a_reported_output_is_missing_or_differs(
    wms: WmsFixture,
    dms: DmsClient,
    tmp_path: Path,
    *,
    damage: Callable[[Path], None] | None,
    content: bool,
    reason: str | None,
) -> None:
    checking_wms = make_checking_wms(wms, dms, content=content)
    task = await checking_wms.add_task(make_task(dat_out_url=f"file://{tmp_path}/out"), jobs=1)
    pilot = await checking_wms.add_pilot()
    (job,) = await checking_wms.lease(pilot)
    path = tmp_path / "out" / "00000000.1-0.png"
    path.parent.mkdir()
    path.write_bytes(DATA)
    if damage is not None:
        damage(path)
    url = f"file://{path}"
    output = OutputFile(
        port=task.main_output.port, name=path.name, size=len(DATA), checksum=SUM, url=url
    )
    report = checking_wms.make_report(job, outputs=[output])
    assert await checking_wms.report(pilot, report) == [ReportAnswer.ACCEPTED]
    details = await get_job(checking_wms.context, job.id)
    if reason is None:
        assert details.state is JobState.FINISHED
        return
    (attempt,) = details.attempts
    assert (details.state, attempt.error_class) == (JobState.READY, ErrorClass.STAGE_OUT_FAILED)
    assert f"output file '{path.name}' at {url}: {reason}" in attempt.message


async def test_report_is_accepted_while_the_catalogue_is_unavailable(wms: WmsFixture) -> None:
    async with httpx.AsyncClient(base_url="http://127.0.0.1:9") as unavailable_dms:
        checking_wms = make_checking_wms(wms, DmsClient(unavailable_dms), content=False)
        task = await checking_wms.add_task(make_task(), jobs=1)
        pilot = await checking_wms.add_pilot()
        (job,) = await checking_wms.lease(pilot)
        assert await checking_wms.finish(pilot, job) == [ReportAnswer.ACCEPTED]
    assert (await checking_wms.status(task)).finished == 1
