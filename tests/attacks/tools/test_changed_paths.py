"""Tests of jobs that leave files in the way of the pilot or change files while the pilot takes
them."""

import threading
from pathlib import Path
from typing import Any

import pytest

from pilot.runner.files.input_protection import MAX_COPIED
from sluice.contracts.common.states import AttemptOutcome
from tests.attacks.tools.victims import MARK, Victims
from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.invocations import OPERATION, write_invocation
from tests.unit.pilot.slot_runner import Runner

OUTPUT = {"o": {"type": "File", "outputBinding": {"glob": "x"}}}


@pytest.fixture
def victims(tmp_path: Path) -> Victims:
    return Victims(tmp_path / "foreign")


def make_script_step(text: str, **fields: Any) -> dict[str, Any]:
    process = make_tool(["sh", "-c", text], outputs=OUTPUT, **fields)
    if "stdout" not in fields:
        del process["stdout"]
    return process


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("link_kind", ["ln -s", "ln"])
def test_links_in_place_of_streams_do_not_affect_the_next_job(
    runner: Runner, root: Path, victims: Victims, stream: str, link_kind: str
) -> None:
    """Files behind the links are in no log."""
    leaving_step = make_script_step(
        f"echo 1 > x; rm ../{stream}; {link_kind} {victims.folder}/errors ../{stream}; exit 3"
    )
    speaking_step = make_script_step("echo said; echo said >&2; echo 1 > x")
    get_error(run(runner, make_task(root, leaving_step), [write_input(root / "in" / "a.dat")]))
    report = run(
        runner, make_task(root, speaking_step), [write_input(root / "in" / "b.dat")], seq=1
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert report.log is not None
    assert Path(report.log.url.removeprefix("file://")).read_text().count("\nsaid\n") == 2
    victims.check(root.parent)


def test_pilot_does_not_write_through_links(runner: Runner, root: Path, victims: Victims) -> None:
    plants = make_script_step(f"echo 1 > x; ln -sf {victims.folder}/secret.txt ../tmp.tar")
    stored_input = write_input(root / "store" / "files" / "a.dat")
    order = {"f": {"class": "File", "location": "files/a.dat", "checksum": stored_input.checksum}}
    request = write_invocation(root, plants, order)
    for number, (executable, file) in enumerate(
        ((OPERATION, request), (plants, write_input(root / "in" / "a.dat")))
    ):
        report = run(runner, make_task(root, executable), [file], seq=number)
        assert report.outcome is AttemptOutcome.FINISHED, report.message
    victims.check(root.parent)


def test_hard_link_to_a_foreign_file_is_copied(
    runner: Runner, root: Path, victims: Victims
) -> None:
    """The tool runs as the user of the pilot and can read the file. Changes of the output do not
    change the file."""
    for batch in (1, 2):
        files = [write_input(root / "in" / f"{number}.dat", seq=number) for number in range(batch)]
        report = run(
            runner,
            make_task(root, make_script_step(f"ln {victims.folder}/secret.txt x"), batch=batch),
            files,
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        for stored in report.outputs:
            path = Path(stored.url.removeprefix("file://"))
            assert path.read_text() == MARK
            path.write_text("")
    victims.check(root.parent)


@pytest.mark.parametrize("inside", [False, True])
def test_stream_cannot_overwrite_an_input(runner: Runner, root: Path, *, inside: bool) -> None:
    """A large input is a link to the file of the storage."""
    file = write_input(root / "in" / "large.dat", data=bytes(MAX_COPIED + 1))
    writes = make_script_step(
        "echo 1",
        stdout="$(inputs.f.basename)",
        requirements=[{"class": "InitialWorkDirRequirement", "listing": ["$(inputs.f)"]}],
    )
    report = run(
        runner, make_task(root, wrap_in_workflow(writes, mode="File") if inside else writes), [file]
    )
    assert "'large.dat' is not a regular file" in get_error(report)[1]
    assert (root / "in" / "large.dat").stat().st_size == MAX_COPIED + 1


@pytest.mark.parametrize("batch", [1, 2])
def test_output_that_is_swapped_with_a_link_shows_no_foreign_file(
    runner: Runner, root: Path, victims: Victims, batch: int
) -> None:
    """A process that outlives the job swaps the output and a link again and again."""
    folder = next((runner.run.path / "slots").glob(f"{runner.slot_pid}[-.]1")) / "out"
    own, link, place = (folder.parent / name for name in ("own", "link", "place"))
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            own.write_text("own")
            link.unlink(missing_ok=True)
            link.symlink_to(victims.folder / "secret.txt")
            for path in (link, own):
                place.unlink(missing_ok=True)
                path.rename(place)
                if (folder / "x").is_symlink() or (folder / "x").exists():
                    place.rename(folder / "x")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for number in range(60):
            files = [write_input(root / "in" / f"{seq}.dat", seq=seq) for seq in range(batch)]
            report = run(
                runner,
                make_task(root, make_script_step("echo own > y; mv y x"), batch=batch),
                files,
                seq=number,
            )
            if report.outcome is not AttemptOutcome.FINISHED:
                get_error(report)
    finally:
        over.set()
        swapper.join()
    victims.check(root.parent)
