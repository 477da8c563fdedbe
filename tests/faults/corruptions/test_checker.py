"""Every check of the checker finds its corruptions of a good final state.

Files are changed on a copy of the storages, and rows in a copy of the tables, where no database
constraints apply.
"""

import copy
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sluice.contracts.common.states import AttemptOutcome
from tests.faults.checker.checks import CHECKS, find_deviations, get_check_name
from tests.faults.checker.load import read_storages
from tests.faults.corruptions.annotation_corruptions import ANNOTATION_CORRUPTIONS
from tests.faults.corruptions.attempt_corruptions import add_failed_duplicate
from tests.faults.corruptions.corruptions import (
    CORRUPTIONS,
    Corruption,
    get_merged_output,
)
from tests.faults.corruptions.file_corruptions import FILE_CORRUPTIONS
from tests.faults.corruptions.limit_corruptions import (
    add_unprepared_limited_attempt,
    add_unprepared_limited_attempt_that_spent,
    add_unstarted_limited_attempt,
)
from tests.faults.corruptions.release_corruptions import RELEASE_CORRUPTIONS
from tests.faults.corruptions.site_corruptions import SITE_CORRUPTIONS
from tests.faults.embedded import EndState, run_small_campaign

#: Corruptions of rows.
ROW_CORRUPTIONS = CORRUPTIONS | ANNOTATION_CORRUPTIONS | RELEASE_CORRUPTIONS | SITE_CORRUPTIONS

pytestmark = [
    pytest.mark.long("tests the checker of the fault suite, not the product"),
    pytest.mark.xdist_group("faults-checker"),
]


@pytest.fixture(scope="module")
def good_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EndState]:
    with run_small_campaign(tmp_path_factory.mktemp("work")) as end:
        yield end


def test_good_state_has_no_findings(good_state: EndState) -> None:
    assert good_state.findings == []
    outcomes = {row["outcome"] for row in good_state.state.rows("wms", "attempts")}
    assert outcomes >= {AttemptOutcome.FINISHED, AttemptOutcome.FAILED}
    assert good_state.state.files
    assert all(good_state.state.rows(service, table) for service, table in _FILLED)


@pytest.mark.parametrize(
    "change",
    [
        add_failed_duplicate,
        add_unstarted_limited_attempt,
        add_unprepared_limited_attempt,
        add_unprepared_limited_attempt_that_spent,
    ],
)
def test_correct_duplicate_attempt_is_no_finding(good_state: EndState, change: Corruption) -> None:
    state = copy.deepcopy(good_state.state)
    change(state)
    assert find_deviations(state, good_state.expectation) == []


#: Tables that must have rows, as the checks would otherwise prove nothing.
_FILLED = [
    *(("dms", table) for table in ("datasets", "dataset_files", "files", "replicas")),
    *(("dms", table) for table in ("storages", "storage_usage", "periods", "runs")),
    *(("wms", table) for table in ("tasks", "jobs", "attempts", "pilots", "limits")),
    *(("chains", table) for table in ("chains", "steps", "datasets")),
    *(("ask", table) for table in ("items", "assignments")),
    *(("watcher", table) for table in ("watches", "releases")),
]


@pytest.mark.parametrize(
    ("check", "corrupt"),
    [(check, corrupt) for check, corruptions in ROW_CORRUPTIONS.items() for corrupt in corruptions],
)
def test_corrupted_row_is_found(good_state: EndState, check: str, corrupt: Corruption) -> None:
    corrupted = copy.deepcopy(good_state.state)
    corrupt(corrupted)
    assert check in {
        finding.check for finding in find_deviations(corrupted, good_state.expectation)
    }


@pytest.mark.parametrize(
    ("check", "corrupt"),
    [
        (check, corrupt)
        for check, corruptions in FILE_CORRUPTIONS.items()
        for corrupt in corruptions
    ],
)
def test_corrupted_file_is_found(
    good_state: EndState, tmp_path: Path, check: str, corrupt: Callable[[Path], None]
) -> None:
    folder = tmp_path / "storages"
    shutil.copytree(good_state.storages, folder)
    corrupt(folder)
    corrupted = copy.deepcopy(good_state.state)
    corrupted.files = {
        path.replace(str(folder), str(good_state.storages)): file
        for path, file in read_storages([str(folder)]).items()
    }
    assert {finding.check for finding in find_deviations(corrupted, good_state.expectation)} == {
        check
    }


def test_missing_events_are_found(good_state: EndState) -> None:
    """A merged file is removed from the catalogue, so that its events are missing."""
    corrupted = copy.deepcopy(good_state.state)
    members = corrupted.rows("dms", "dataset_files")
    members.remove(
        corrupted.row("dms", "dataset_files", dataset_uid=get_merged_output(corrupted)["uid"])
    )
    assert "events complete" in {
        finding.check for finding in find_deviations(corrupted, good_state.expectation)
    }


def test_every_check_has_a_corruption() -> None:
    tested_checks = ROW_CORRUPTIONS.keys() | FILE_CORRUPTIONS.keys() | {"events complete"}
    assert {get_check_name(check) for check in CHECKS} == tested_checks
