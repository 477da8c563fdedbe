"""Reports are checked against their task before any output is registered."""

import uuid
from datetime import UTC, datetime

import pytest

from sluice.contracts.common.naming import attempt_prefix, log_name, output_name
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, TaskMode
from sluice.contracts.jobs.tasks import Task, TaskOutput
from sluice.contracts.pilots.output_files import LogFile, OutputFile
from sluice.contracts.pilots.reports import AttemptReport
from tests.task_fields import build_task
from wms.db.tasks.task_cache import build_cached_task
from wms.domain.outputs import InvalidReport, build_output_files, check_report

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SEQ = 7


def make_task(**changes: object) -> Task:
    plain = {
        "uid": uuid.uuid4(),
        "chain_uid": uuid.uuid4(),
        "step": "cut",
        "template": "t",
        "executable": {},
        "args": {},
        "mode": TaskMode.MERGE,
        "dat_in_uid": uuid.uuid4(),
        "dat_in_port": "f",
        "dat_out_uid": uuid.uuid4(),
        "dat_out_port": "o",
        "dat_stor_url": "file:///store",
        "dat_out_url": "file:///store/out",
        "log_out_uid": uuid.uuid4(),
        "log_stor_url": "file:///logs",
        "log_out_url": "file:///logs/cut",
    }
    return build_task(**{**plain, **changes})


OTHER = TaskOutput(
    port="p",
    dat_out_uid=uuid.uuid4(),
    dat_stor_url="file:///store",
    dat_out_url="file:///store/out",
)


def make_output_file(number: int | None, *, port: str = "o") -> OutputFile:
    name = output_name(SEQ if number is None else number, 1, "x")
    return OutputFile(
        port=port,
        name=name,
        size=1,
        checksum="sha256:" + "0" * 64,
        url=f"file:///store/out/{name}",
        number=number,
    )


def make_report(*outputs: OutputFile) -> AttemptReport:
    return AttemptReport(
        id=1, attempt=1, outcome=AttemptOutcome.FINISHED, ended_at=NOW, outputs=list(outputs)
    )


def test_items_of_a_list_are_registered_with_their_numbers() -> None:
    spread = make_task(dat_out_spread=True)
    outputs = build_cached_task(spread).outputs
    attempt_report = make_report(make_output_file(0), make_output_file(2))
    inputs = [{"name": "a", "seq": 4, "meta": {}}]
    check_report(spread, outputs, attempt_report, seq=SEQ, inputs=inputs)
    files = build_output_files(spread, outputs, attempt_report, seq=7, inputs=inputs)
    assert [(dataset, file.seq, file.name) for dataset, file in files] == [
        (spread.main_output.dat_out_uid, 0, "00000000.1-x"),
        (spread.main_output.dat_out_uid, 2, "00000002.1-x"),
    ]
    plain = make_task()
    [(_, file)] = build_output_files(
        plain,
        build_cached_task(plain).outputs,
        make_report(make_output_file(None)),
        seq=7,
        inputs=inputs,
    )
    assert file.seq == 7
    check_report(spread, outputs, make_report(), seq=SEQ, inputs=inputs)  # an empty list is valid


def test_output_has_its_own_counts_and_does_not_inherit_those_of_the_input() -> None:
    cut = make_task(mode=TaskMode.MAP, side_outputs=[OTHER])
    inputs = [{"name": "a", "seq": 4, "meta": {"run": 7, "sluice:counts": {"events": 99}}}]
    counted = make_output_file(None).model_copy(update={"counts": {"events": 3}})
    files = build_output_files(
        cut,
        build_cached_task(cut).outputs,
        make_report(counted, make_output_file(None, port="p")),
        seq=4,
        inputs=inputs,
    )
    assert [file.meta for _, file in files] == [
        {"run": 7, "sluice:counts": {"events": 3}},
        {"run": 7},
    ]


@pytest.mark.parametrize(
    ("is_list", "outputs", "error", "why"),
    [
        (
            False,
            [make_output_file(0)],
            ErrorClass.INTERNAL,
            "for entry 0, which the job does not have",
        ),
        (True, [make_output_file(None)], ErrorClass.INTERNAL, "for the job, which has several"),
        (
            True,
            [make_output_file(1), make_output_file(1)],
            ErrorClass.INTERNAL,
            "two files for output 'o'",
        ),
        (
            False,
            [make_output_file(None), make_output_file(None)],
            ErrorClass.INTERNAL,
            "two files for output 'o'",
        ),
        (False, [], ErrorClass.TOOL_FAILED, "wrote no file for output o"),
        (
            False,
            [make_output_file(None, port="p")],
            ErrorClass.INTERNAL,
            "which the step does not have",
        ),
    ],
)
def test_report_that_contradicts_the_task_is_refused(
    is_list: bool, outputs: list[OutputFile], error: ErrorClass, why: str
) -> None:
    plain_task = make_task(dat_out_spread=is_list)
    with pytest.raises(InvalidReport, match=why) as fault:
        check_report(
            plain_task,
            build_cached_task(plain_task).outputs,
            make_report(*outputs),
            seq=SEQ,
            inputs=[{"name": "a", "seq": 0}],
        )
    assert fault.value.error is error


def test_report_with_one_url_for_two_outputs_is_refused() -> None:
    """The catalogue registers a URL once, so one output would lack its file."""
    plain_task = make_task()
    outputs = build_cached_task(plain_task).outputs
    [place] = outputs.values()
    twice = make_report(make_output_file(None), make_output_file(None, port="p"))
    with pytest.raises(InvalidReport, match=r"reported the file at file:///store/out/.* twice"):
        check_report(plain_task, {**outputs, "p": place}, twice, seq=SEQ, inputs=[])


def test_report_with_a_name_that_the_catalogue_refuses_is_refused() -> None:
    """Otherwise the catalogue would refuse the whole message, with files of other jobs."""
    plain_task, name = make_task(), f"{attempt_prefix(SEQ, 1)}-{'ü' * 123}"
    long = make_output_file(None).model_copy(
        update={"name": name, "url": f"file:///store/out/{name}"}
    )
    with pytest.raises(InvalidReport, match="has more than 255 bytes") as fault:
        check_report(
            plain_task, build_cached_task(plain_task).outputs, make_report(long), seq=SEQ, inputs=[]
        )
    assert fault.value.error is ErrorClass.STAGE_OUT_FAILED


BATCH = [
    {"name": "a", "seq": 4, "meta": {"frame": 4}},
    {"name": "a.idx", "seq": 4, "port": "side", "meta": {}},
    {"name": "c", "seq": 6, "meta": {"frame": 6}},
]


def test_outputs_of_a_batch_are_registered_for_their_own_entries() -> None:
    batched = make_task(mode=TaskMode.MAP, batch=5)
    attempt_report = make_report(make_output_file(4), make_output_file(6))
    check_report(batched, build_cached_task(batched).outputs, attempt_report, seq=SEQ, inputs=BATCH)
    files = [
        file
        for _, file in build_output_files(
            batched, build_cached_task(batched).outputs, attempt_report, seq=4, inputs=BATCH
        )
    ]
    assert [(file.seq, file.meta, file.origin and file.origin["inputs"]) for file in files] == [
        (4, {"frame": 4}, ["a", "a.idx"]),
        (6, {"frame": 6}, ["c"]),
    ]


@pytest.mark.parametrize(
    ("outputs", "why"),
    [
        ([make_output_file(4)], "wrote no file for output o"),
        ([make_output_file(4), make_output_file(5)], "for entry 5, which the job does not have"),
        ([make_output_file(None)], "for the job, which has several"),
        (
            [make_output_file(4), make_output_file(4), make_output_file(6)],
            "two files for output 'o'",
        ),
    ],
)
def test_batch_report_must_have_exactly_the_outputs_of_its_entries(
    outputs: list[OutputFile], why: str
) -> None:
    batched = make_task(mode=TaskMode.MAP, batch=5)
    with pytest.raises(InvalidReport, match=why):
        check_report(
            batched,
            build_cached_task(batched).outputs,
            make_report(*outputs),
            seq=SEQ,
            inputs=BATCH,
        )
    if len(outputs) == 1 and outputs[0].number is not None:
        filters = make_task(mode=TaskMode.MAP, batch=5, dat_out_optional=True)
        check_report(
            filters,
            build_cached_task(filters).outputs,
            make_report(*outputs),
            seq=SEQ,
            inputs=BATCH,
        )


@pytest.mark.parametrize("name", ["ns::x", "x%2f", "x\\..\\a", "a//b"])
def test_invalid_url_in_a_report_fails_only_the_attempt(name: str) -> None:
    plain = make_task()
    good = make_output_file(None)
    bad_report = make_report(
        good.model_copy(update={"url": f"{plain.main_output.dat_out_url}/{name}"})
    )
    with pytest.raises(InvalidReport, match="not a plain path") as fault:
        check_report(plain, build_cached_task(plain).outputs, bad_report, seq=SEQ, inputs=[])
    assert fault.value.error is ErrorClass.STAGE_OUT_FAILED
    check_report(plain, build_cached_task(plain).outputs, make_report(good), seq=SEQ, inputs=[])


OTHERS = output_name(SEQ + 1, 1, "x")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": OTHERS, "url": f"file:///store/out/{OTHERS}"},
        {"url": f"file:///store/out/{OTHERS}"},
        {"name": OTHERS},
        {"name": "x", "url": "file:///store/out/x"},
        *(
            {"name": name, "url": f"file:///store/out/{name}"}
            for name in (output_name(SEQ, 2, "x"), output_name(SEQ, 11, "x"))
        ),
    ],
)
def test_output_file_without_the_prefix_of_its_attempt_is_refused(changes: dict[str, str]) -> None:
    """Otherwise two jobs could register the same file."""
    plain = make_task()
    bad_report = make_report(make_output_file(None).model_copy(update=changes))
    with pytest.raises(InvalidReport, match="is not named") as fault:
        check_report(plain, build_cached_task(plain).outputs, bad_report, seq=SEQ, inputs=[])
    assert fault.value.error is ErrorClass.INTERNAL


@pytest.mark.parametrize("outcome", [AttemptOutcome.FINISHED, AttemptOutcome.FAILED])
@pytest.mark.parametrize("place", [(SEQ + 1, 1), (SEQ, 2)])
def test_log_file_with_the_name_of_another_attempt_is_refused(
    outcome: AttemptOutcome, place: tuple[int, int]
) -> None:
    plain = make_task()
    outputs = build_cached_task(plain).outputs

    def logged(name: str, url: str) -> AttemptReport:
        log = LogFile(name=name, size=1, checksum="sha256:" + "0" * 64, url=url)
        return make_report(make_output_file(None)).model_copy(
            update={"log": log, "outcome": outcome}
        )

    own, other = log_name(SEQ, 1), log_name(*place)
    folder = plain.log_out_url
    check_report(plain, outputs, logged(own, f"{folder}/{own}"), seq=SEQ, inputs=[])
    for name, url in [
        (other, f"{folder}/{other}"),
        (other, f"{folder}/{own}"),
        (own, f"{folder}/{other}"),
    ]:
        with pytest.raises(InvalidReport, match=f"not at {folder}/{own}"):
            check_report(plain, outputs, logged(name, url), seq=SEQ, inputs=[])
