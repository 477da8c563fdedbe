"""Notices of full storages and disks."""

from uuid import uuid4

from sluice.contracts.chains.attention import NoticeSeverity
from sluice.contracts.common.states import PilotState, StorageType
from sluice.contracts.data.datasets import Storage
from sluice.contracts.data.storage_space import StorageWait
from tests.unit.operator.chains import NOW
from tests.unit.operator.notice_texts import list_texts
from tests.unit.operator.pilots import make_pilot
from wfms.operator.monitoring.domain import data_notices, pilot_notices


def test_full_storage_has_one_notice_with_missing_bytes_and_waiting_jobs() -> None:
    storage = Storage(
        id=uuid4(),
        name="work",
        type=StorageType.INTERMEDIATE,
        url="file:///work",
        enabled=True,
        used=0,
        full="4.0 MB free, 10.0 MB needed",
    )
    wait = StorageWait(
        url=storage.url,
        name="work",
        needed=10_000_000,
        free=4_000_000,
        since=NOW,
        jobs=4,
        tasks=[uuid4()],
    )
    [notice] = data_notices.report_full_storages([storage], [wait])
    assert notice.text == (
        "Storage work is full (a job needs 10.0 MB, 4.0 MB free, 6.0 MB missing): 4 jobs wait for"
        " space. Free space there: they continue automatically"
    )
    assert (notice.severity, notice.page, notice.since) == (NoticeSeverity.ERROR, "storages", NOW)
    assert list_texts(data_notices.report_full_storages([storage], [])) == [
        "Storage work is full (4.0 MB free, 10.0 MB needed): free space there, or add another"
        " storage of its type"
    ]
    freed = wait.model_copy(update={"free": 25_000_000})
    assert list_texts(data_notices.report_full_storages([storage], [freed])) == [
        "Storage work had too little space for what its jobs wrote together (25.0 MB free now, a"
        " job needs 10.0 MB): 4 jobs wait, and one is tried at a time. More space lets them run"
        " together"
    ]
    unknown = wait.model_copy(update={"name": "", "needed": 0, "free": None, "jobs": 1})
    assert list_texts(data_notices.report_full_storages([], [unknown])) == [
        "Storage file:///work is full: 1 job waits for space. Free space there: they continue"
        " automatically"
    ]
    [named] = data_notices.report_full_storages(
        [storage.model_copy(update={"full": None})], [unknown]
    )
    assert named.text.startswith("Storage work is full: 1 job waits"), (
        "the DMS knows the name of the storage"
    )
    with_space = storage.model_copy(update={"full": None})
    disabled = storage.model_copy(update={"enabled": False})
    assert data_notices.report_full_storages([with_space, disabled], []) == []


def test_pilot_that_takes_no_jobs_has_a_notice_while_present() -> None:
    well = make_pilot(state=PilotState.ACTIVE)
    troubled = well.model_copy(update={"trouble": "its disk is full"})
    assert list_texts(pilot_notices.report_troubled_pilots([troubled, well])) == [
        f"Pilot {troubled.name} on {troubled.host} takes no jobs: its disk is full"
    ]
    gone_pilot = troubled.model_copy(update={"state": PilotState.GONE})
    assert pilot_notices.report_troubled_pilots([gone_pilot]) == []
