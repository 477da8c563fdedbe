"""Files are grouped into the same jobs, whatever the pages are."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.common.states import TaskMode
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.templates.plan import MergeGroups
from wms.domain.splitting.grouping import Grouping, JobDraft

groupings = st.one_of(
    st.just(MergeGroups()),
    st.integers(1, 9).map(lambda n: MergeGroups(files=n)),
    st.integers(1, 500).map(lambda n: MergeGroups(bytes=n)),
    st.integers(2, 9).map(lambda n: MergeGroups(files=n, tree=True)),
)


def make_files(sizes: list[int]) -> list[InputFile]:
    return [
        InputFile(
            seq=10 * n,
            name=f"f{n}",
            size=size,
            checksum="sha256:" + "0" * 64,
            url=f"file:///in/{n}",
        )
        for n, size in enumerate(sizes)
    ]


def split(
    mode: TaskMode, groups: MergeGroups, inputs: list[InputFile], *, page: int, batch: int = 1
) -> list[JobDraft]:
    grouping = Grouping(mode, groups, batch=batch)
    drafts: list[JobDraft] = []
    for start in range(0, len(inputs), page):
        drafts += grouping.add(inputs[start : start + page])
    return [*drafts, *grouping.finish()]


@given(groupings, st.lists(st.integers(0, 200), max_size=40), st.integers(1, 50))
def test_merge_jobs_keep_the_order_of_files_for_any_page_size(
    groups: MergeGroups, sizes: list[int], page: int
) -> None:
    """Invariant 8."""
    inputs = make_files(sizes)
    drafts = split(TaskMode.MERGE, groups, inputs, page=page)
    assert drafts == split(TaskMode.MERGE, groups, inputs, page=1000)
    assert [file for draft in drafts for file in draft.inputs] == inputs
    assert [draft.seq for draft in drafts] == list(range(len(drafts)))
    for draft in drafts:
        assert draft.inputs or not inputs
        if groups.files is not None:
            assert len(draft.inputs) <= groups.files
        if groups.bytes is not None and len(draft.inputs) > 1:
            assert sum(file.size for file in draft.files) <= groups.bytes
    if groups.files is None and groups.bytes is None:
        assert len(drafts) == 1, "a merge without groups has a single job"


@given(groupings)
def test_empty_input_gives_one_job_to_merges_and_none_to_groups(
    groups: MergeGroups,
) -> None:
    drafts = split(TaskMode.MERGE, groups, [], page=1)
    assert drafts == ([JobDraft(0, [])] if groups.tree or groups == MergeGroups() else [])


@given(st.lists(st.integers(0, 200), max_size=40), st.integers(1, 50))
def test_map_jobs_keep_the_numbers_of_their_files(sizes: list[int], page: int) -> None:
    """Invariant 8."""
    inputs = make_files(sizes)
    assert split(TaskMode.MAP, MergeGroups(), inputs, page=page) == [
        JobDraft(file.seq, [file]) for file in inputs
    ]


@given(st.lists(st.integers(0, 200), max_size=40), st.integers(1, 50), st.integers(2, 9))
def test_batches_keep_the_order_of_files_for_any_page_size(
    sizes: list[int], page: int, batch: int
) -> None:
    """Invariant 8."""
    inputs = make_files(sizes)
    drafts = split(TaskMode.MAP, MergeGroups(), inputs, page=page, batch=batch)
    assert [file for draft in drafts for file in draft.inputs] == inputs
    assert all(len(draft.inputs) == batch for draft in drafts[:-1])
    assert all(
        (draft.seq, draft.last_seq) == (draft.inputs[0].seq, draft.inputs[-1].seq)
        for draft in drafts
    )


def test_files_with_equal_numbers_are_in_different_batches() -> None:
    first, second, third = make_files([1, 2, 3])
    twice = second.model_copy(update={"seq": first.seq})
    drafts = split(TaskMode.MAP, MergeGroups(), [first, twice, third], page=10, batch=5)
    assert [[file.name for file in draft.inputs] for draft in drafts] == [["f0"], ["f1", "f2"]]
    assert drafts[1].seq <= drafts[0].last_seq, "the overlap must be visible to the caller"


@given(st.integers(2, 9), st.integers(1, 30), st.integers(1, 5))
def test_last_group_of_a_merge_tree_is_made_last(size: int, number: int, page: int) -> None:
    """A full group at the end of a page waits until more files come, or until the end."""
    grouping, inputs = (
        Grouping(TaskMode.MERGE, MergeGroups(files=size, tree=True)),
        make_files([1] * number),
    )
    drafts = [
        draft
        for start in range(0, number, page)
        for draft in grouping.add(inputs[start : start + page])
    ]
    (last,) = grouping.finish()
    assert [len(draft.inputs) for draft in drafts] == [size] * ((number - 1) // size)
    assert last.inputs == inputs[(number - 1) // size * size :]
