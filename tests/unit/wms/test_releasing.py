"""Files that a finished job releases."""

from typing import Any
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.jobs.tasks import Task, TaskInput
from sluice.contracts.templates.plan import MergeGroups
from tests.integration.wms.wms_fixture import make_input_file, make_task
from wms.domain.releasing import ReleasableFiles, find_releasable_files
from wms.domain.splitting.tree_merge import SPAN

FIRST, SECOND, SHARED, PARTS = (UUID(int=number) for number in range(1, 5))


def make_joined_task() -> Task:
    inputs = [
        TaskInput(port="x", dat_in_uid=FIRST, mode=InputMode.EACH),
        TaskInput(port="y", dat_in_uid=SECOND, mode=InputMode.EACH),
        TaskInput(port="z", dat_in_uid=SHARED, mode=InputMode.ALL),
    ]
    return make_task().model_copy(update={"inputs": inputs})


def make_inputs(*seqs: int, ports: tuple[str, ...] = ("",)) -> list[dict[str, Any]]:
    return [
        make_input_file(seq) | ({"port": port} if port else {}) for seq in seqs for port in ports
    ]


def test_files_of_two_data_sets_are_distinguished_by_port() -> None:
    counts = {str(uid): number for number, uid in enumerate((FIRST, SECOND, SHARED), 1)}
    releasable_files = find_releasable_files(
        make_joined_task(), [(5, make_inputs(5, ports=("", "y")))], downstream_counts=counts
    )
    assert releasable_files == [ReleasableFiles(FIRST, 1, [5]), ReleasableFiles(SECOND, 2, [5])]


def test_files_of_a_data_set_that_is_released_as_a_whole_are_left_out() -> None:
    releasable_files = find_releasable_files(
        make_joined_task(),
        [(5, make_inputs(5, ports=("", "y")))],
        downstream_counts={str(SECOND): 3},
    )
    assert releasable_files == [ReleasableFiles(SECOND, 3, [5])]
    assert (
        find_releasable_files(make_joined_task(), [(5, make_inputs(5))], downstream_counts={}) == []
    )


def test_jobs_on_a_higher_level_of_a_merge_tree_release_parts() -> None:
    tree = make_task(
        mode=TaskMode.MERGE,
        dat_in_uid=FIRST,
        groups=MergeGroups(files=2, tree=True),
        parts_uid=PARTS,
    )
    jobs = [
        (0, make_inputs(0, 1)),
        (SPAN, make_inputs(0, 1)),
        (2 * SPAN, make_inputs(SPAN, SPAN + 1)),
    ]
    assert find_releasable_files(tree, jobs, downstream_counts={str(FIRST): 1}) == [
        ReleasableFiles(FIRST, 1, [0, 1]),
        ReleasableFiles(PARTS, 1, [0, 1, SPAN, SPAN + 1]),
    ]
    assert find_releasable_files(tree, jobs[1:2], downstream_counts={}) == [
        ReleasableFiles(PARTS, 1, [0, 1])
    ]


@given(st.lists(st.lists(st.integers(0, 10**8), min_size=1, max_size=5, unique=True), max_size=8))
def test_file_of_several_jobs_is_released_once_and_in_order(jobs: list[list[int]]) -> None:
    """The jobs include batches and groups."""
    task = make_task(dat_in_uid=FIRST, uid=uuid4(), batch=5)
    drafts = [(seqs[0], make_inputs(*seqs)) for seqs in jobs]
    released_numbers = [
        seq
        for one in find_releasable_files(task, drafts, downstream_counts={str(FIRST): 1})
        for seq in one.seqs
    ]
    assert released_numbers == sorted({seq for seqs in jobs for seq in seqs})
