"""A pilot does not trust what it finds in its work folder."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from pilot.folders.pilot_folder import FolderInUseError, open_folder
from pilot.folders.run_folder import RunFolder
from pilot.reports.journal import Journal
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer
from sluice.contracts.pilots.output_files import OutputFile
from sluice.contracts.pilots.reports import AttemptReport
from tests.integration.pilot.pilot_process import StartPilot
from tests.servers.scripted_wms import ScriptedWms, wait_for


async def test_pilot_removes_no_files_outside_storages_that_a_journal_names(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, tmp_path: Path
) -> None:
    """Invariant 4: nothing outside the root of a storage is deleted."""
    wms.known.add(pilot_uid := uuid4())
    run = RunFolder(tmp_path / "work" / "node-1" / "runs" / str(pilot_uid))
    run.make()
    (tmp_path / "work").chmod(0o755)
    precious, left = tmp_path / "precious", root / "out" / "left"
    for path in (precious, left):
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch()
    journal = Journal(run.journals, "slot-7")
    journal.record_start((1, 1))
    journal.record_urls((1, 1), [f"file://{precious}", f"file://{left}"])
    reported = OutputFile(
        port="o", name="precious", size=0, checksum=f"sha256:{'0' * 64}", url=f"file://{precious}"
    )
    ended = datetime(2030, 1, 1, tzinfo=UTC)
    journal.record_report(
        AttemptReport(
            id=2, attempt=1, outcome=AttemptOutcome.FINISHED, ended_at=ended, outputs=[reported]
        )
    )
    wms.answer = lambda report: ReportAnswer.STALE
    wms.storages = {f"file://{root}"}
    pilot = await start_pilot()
    await wait_for(lambda: not run.path.exists())
    assert {report.id for _, report in wms.reports} == {1, 2}
    assert precious.exists()
    assert not left.exists()
    assert pilot.has_said("file.not_removed")


@pytest.mark.parametrize("answer", ReportAnswer)
async def test_files_of_a_lost_report_are_kept_if_the_wms_accepted_the_report(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, tmp_path: Path, answer: ReportAnswer
) -> None:
    """Invariant 4: the disk was full when the pilot saved the report, but the report was sent."""
    wms.known.add(pilot_uid := uuid4())
    run = RunFolder(tmp_path / "work" / "node-1" / "runs" / str(pilot_uid))
    run.make()
    (tmp_path / "work").chmod(0o755)
    written = root / "out" / "written"
    written.parent.mkdir(exist_ok=True, parents=True)
    written.touch()
    journal = Journal(run.journals, "slot-7")
    journal.record_start((1, 1))
    journal.record_urls((1, 1), [f"file://{written}"])
    wms.answer = lambda report: answer
    wms.storages = {f"file://{root}"}
    await start_pilot()
    await wait_for(lambda: not run.path.exists())
    assert [report.error_class for _, report in wms.reports] == [ErrorClass.PILOT_LOST]
    assert written.exists() == (answer is ReportAnswer.ALREADY)


async def test_pilot_refuses_a_folder_that_others_may_write_to(
    wms: ScriptedWms, start_pilot: StartPilot, tmp_path: Path
) -> None:
    planted = RunFolder(tmp_path / "work" / "node-1" / "runs" / str(uuid4()))
    planted.make()
    (tmp_path / "work" / "node-1").chmod(0o777)
    pilot = await start_pilot(wait=False)
    assert await pilot.ended() == 2
    assert pilot.has_said("pilot.folder_unsafe")
    assert planted.journals.exists()
    assert wms.registrations == []


async def test_two_pilots_of_the_same_name_do_not_share_a_folder(
    start_pilot: StartPilot, tmp_path: Path
) -> None:
    await start_pilot()
    with pytest.raises(FolderInUseError, match="another pilot of this name"):
        open_folder(tmp_path / "work" / "node-1", patience=0.1)
