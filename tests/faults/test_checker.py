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
from tests.faults.checker.checks import CHECKS, look, name_of
from tests.faults.checker.load import read_storages
from tests.faults.embedded import EndState, carried_work
from tests.faults.spoils import SPOILS, Spoil, entering_attempt_stopped, merged
from tests.faults.spoils_of_answers import ANSWER_SPOILS
from tests.faults.spoils_of_attempts import an_attempt_that_failed_beside_the_winner
from tests.faults.spoils_of_files import FILE_SPOILS
from tests.faults.spoils_of_releases import RELEASE_SPOILS
from tests.faults.spoils_of_sites import SITE_SPOILS

#: Corruptions of rows.
ROW_SPOILS = SPOILS | ANSWER_SPOILS | RELEASE_SPOILS | SITE_SPOILS

pytestmark = [
    pytest.mark.long("tests the checker of the fault suite, not the product"),
    pytest.mark.xdist_group("faults-checker"),
]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EndState]:
    with carried_work(tmp_path_factory.mktemp("work")) as end:
        yield end


def test_good_state_has_no_findings(good: EndState) -> None:
    assert good.findings == []
    outcomes = {row["outcome"] for row in good.state.rows("wms", "attempts")}
    assert outcomes >= {AttemptOutcome.FINISHED, AttemptOutcome.FAILED}
    assert good.state.files
    assert all(good.state.rows(service, table) for service, table in _FILLED)


@pytest.mark.parametrize(
    "change", [an_attempt_that_failed_beside_the_winner, entering_attempt_stopped]
)
def test_correct_duplicate_attempt_is_no_finding(good: EndState, change: Spoil) -> None:
    state = copy.deepcopy(good.state)
    change(state)
    assert look(state, good.expectation) == []


#: Tables that must have rows, as the checks would otherwise prove nothing.
_FILLED = [
    *(("dms", table) for table in ("datasets", "dataset_files", "files", "replicas")),
    *(("dms", table) for table in ("storages", "storage_usage", "periods", "runs")),
    *(("wms", table) for table in ("tasks", "jobs", "attempts", "pilots", "limits")),
    *(("chains", table) for table in ("chains", "steps", "datasets")),
    *(("ask", table) for table in ("items", "shown")),
    *(("watcher", table) for table in ("watches", "releases")),
]


@pytest.mark.parametrize(
    ("check", "spoil"),
    [(check, spoil) for check, spoils in ROW_SPOILS.items() for spoil in spoils],
)
def test_corrupted_row_is_found(good: EndState, check: str, spoil: Spoil) -> None:
    spoiled = copy.deepcopy(good.state)
    spoil(spoiled)
    assert check in {finding.check for finding in look(spoiled, good.expectation)}


@pytest.mark.parametrize(
    ("check", "spoil"),
    [(check, spoil) for check, spoils in FILE_SPOILS.items() for spoil in spoils],
)
def test_corrupted_file_is_found(
    good: EndState, tmp_path: Path, check: str, spoil: Callable[[Path], None]
) -> None:
    folder = tmp_path / "storages"
    shutil.copytree(good.storages, folder)
    spoil(folder)
    spoiled = copy.deepcopy(good.state)
    spoiled.files = {
        path.replace(str(folder), str(good.storages)): file
        for path, file in read_storages([str(folder)]).items()
    }
    assert {finding.check for finding in look(spoiled, good.expectation)} == {check}


def test_missing_events_are_found(good: EndState) -> None:
    """A merged file is removed from the catalogue, so that its events are missing."""
    spoiled = copy.deepcopy(good.state)
    members = spoiled.rows("dms", "dataset_files")
    members.remove(spoiled.first("dms", "dataset_files", dataset_uid=merged(spoiled)["uid"]))
    assert "events true" in {finding.check for finding in look(spoiled, good.expectation)}


def test_every_check_has_a_corruption() -> None:
    proven = ROW_SPOILS.keys() | FILE_SPOILS.keys() | {"events true"}
    assert {name_of(check) for check in CHECKS} == proven
