"""The demonstration reports `finished` only if all results are as expected."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from ocr.demo_report import print_report, summarise
from ocr.demo_volume import PlannedVolume, ProcessedVolume
from ocr.scans import page_name

from sluice.clientkit.transfer.results import Output
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import ChainState, JobState
from sluice.contracts.data.datasets import File
from sluice.contracts.jobs.tasks import Job

PLANS = (
    PlannedVolume("first", seed=1, pages=4, damaged=2),
    PlannedVolume("second", seed=2, pages=4),
)


def _make_output(path: Path) -> Output:
    checksum = f"sha256:{'0' * 64}"
    file = File(
        id=1, dataset_uid=uuid4(), seq=0, name=path.name, size=1, checksum=checksum, url="file:///x"
    )
    return Output(path=path, name=path.name, file=file, output="pages", size=1, checksum=checksum)


def _make_volume(plan: PlannedVolume, configuration: int, state: ChainState) -> ProcessedVolume:
    chain = Chain(
        uid=uuid4(),
        state=state,
        template_id=uuid4(),
        template="t",
        template_version=1,
        dataset_uid=uuid4(),
        dataset_name=plan.name,
        params={},
        created_at=datetime.now(UTC),
        steps=[],
        datasets=[],
    )
    failed = [
        Job(
            id=1,
            task_uid=uuid4(),
            seq=0,
            state=JobState.FAILED,
            inputs=[f"{page}.png"],
            attempt=1,
            message="cut off",
        )
        for page in plan.damaged_pages()
    ]
    names = [page_name(plan.name, number) for number in range(1, plan.pages + 1)]
    return ProcessedVolume(
        plan=plan,
        chain=chain,
        tasks=[],
        failures=[("layout", job) for job in failed],
        started=1.0,
        ended=9.5,
        configuration=configuration,
        loads=2,
        outputs=[
            _make_output(Path(f"/out/{name}.xml"))
            for name in names
            if name not in plan.damaged_pages()
        ],
        kinds={"clean": {"pages": 3, "characters": 1000, "errors": 10}},
    )


@pytest.fixture
def volumes() -> list[ProcessedVolume]:
    return [
        _make_volume(plan, number, ChainState.FINISHED)
        for number, plan in enumerate(PLANS, start=1)
    ]


def test_summary_has_all_figures(volumes: list[ProcessedVolume]) -> None:
    volumes[1].kinds["skew"] = {"pages": 1, "characters": 100, "errors": 3}
    summary = summarise(volumes, 16.0)
    assert summary["status"] == ChainState.FINISHED
    assert (summary["pages"], summary["failed_pages"]) == (8, ["first-p00002"])
    assert (summary["cer"], summary["cer_by_kind"]) == (0.01, {"clean": 0.01, "skew": 0.03})
    assert (summary["pages_per_second"], summary["model_loads"]) == (0.5, 4)
    first, second = summary["volumes"]
    assert first["name"] == "first"
    assert [Path(file["path"]).name for file in first["files"]] == [
        "first-p00001.xml",
        "first-p00003.xml",
        "first-p00004.xml",
    ]
    assert first["files"][0]["sha256"] == "0" * 64
    assert (second["configuration"], second["seconds"]) == ("ocr-layout@2", 8.5)


def _fail_another_page(volumes: list[ProcessedVolume]) -> None:
    volumes[1].failures = volumes[0].failures


def _remove_failures(volumes: list[ProcessedVolume]) -> None:
    volumes[0].failures = []


def _fail_a_chain(volumes: list[ProcessedVolume]) -> None:
    volumes[0].chain = volumes[0].chain.model_copy(update={"state": ChainState.FAILED})


def _remove_a_page(volumes: list[ProcessedVolume]) -> None:
    volumes[1].outputs = volumes[1].outputs[1:]


def _reverse_pages(volumes: list[ProcessedVolume]) -> None:
    volumes[1].outputs = volumes[1].outputs[::-1]


def _raise_error_rate(volumes: list[ProcessedVolume]) -> None:
    volumes[1].kinds["clean"]["errors"] = 50


def _set_old_configuration(volumes: list[ProcessedVolume]) -> None:
    volumes[1].configuration = 1


@pytest.mark.parametrize(
    "change",
    [
        _fail_another_page,
        _remove_failures,
        _fail_a_chain,
        _remove_a_page,
        _reverse_pages,
        _raise_error_rate,
        _set_old_configuration,
    ],
)
def test_unexpected_result_is_reported_as_failed(
    change: Callable[[list[ProcessedVolume]], None], volumes: list[ProcessedVolume]
) -> None:
    change(volumes)
    assert summarise(volumes, 16.0)["status"] == ChainState.FAILED


def test_damaged_page_is_named_with_the_reason(
    volumes: list[ProcessedVolume], capsys: pytest.CaptureFixture[str]
) -> None:
    print_report(volumes, summarise(volumes, 16.0))
    output = capsys.readouterr().out
    assert "first, layout, first-p00002.png: cut off" in output
    assert "finished: 8 pages in 16 s" in output
