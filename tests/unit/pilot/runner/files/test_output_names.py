"""Tests of outputs with unusual names: the catalogue accepts them, and the next tool sees the
original name."""

import uuid
from pathlib import Path

import pytest

from dms.domain.places import Root, storage_place
from sluice.contracts.common.naming import own_name
from sluice.contracts.common.states import AttemptOutcome, StorageType
from sluice.contracts.jobs.job_inputs import InputFile
from tests.unit.pilot.attempts import make_python_tool, run
from tests.unit.pilot.builders import make_output, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner


@pytest.mark.parametrize(
    "name", ["ns::Class.txt", "x%2f", r"x\..\..\a", "x%2f..%2f..%2fa", "x%252525252525252e", "=3A"]
)
def test_name_that_could_be_read_as_another_path_reaches_the_next_tool(
    runner: Runner, root: Path, name: str
) -> None:
    """The storage has the file under a safe name that the catalogue accepts."""
    writes = make_tool(["python3", "-c", "import sys; open(sys.argv[1], 'w').write('hits')", name])
    del writes["stdout"]
    writes["outputs"] = {"o": {"type": "File", "outputBinding": {"glob": "*"}}}
    (stored,) = run(
        runner, make_task(root, writes), [write_input(root / "in" / "a.dat")], seq=3
    ).outputs
    data = Root(
        uuid.uuid4(), "data", StorageType.OUTPUT, f"file://{root}", read_only=False, enabled=True
    )
    assert storage_place(stored.url, [data], subject="it").path == f"out/{stored.name}"
    assert (root / "out" / stored.name).read_text() == "hits"
    next_input = InputFile(
        name=own_name(stored.name), url=stored.url, size=4, checksum=stored.checksum, seq=3
    )
    says = make_python_tool(
        "import os, sys; print(os.path.basename(sys.argv[1]), open(sys.argv[1]).read())",
        stdout="said",
    )
    says["outputs"] = {"o": {"type": "File", "outputBinding": {"glob": "said"}}}
    after = run(
        runner, make_task(root, says, outputs=[make_output(root, "o", "next")]), [next_input]
    )
    assert after.outcome is AttemptOutcome.FINISHED, after
    (read,) = after.outputs
    assert Path(read.url.removeprefix("file://")).read_text() == f"{name} hits\n"


@pytest.mark.parametrize("name", ["ü" * 122 + ".csv", "x" * 251 + ".csv"])
def test_file_with_the_longest_possible_name_is_stored(
    runner: Runner, root: Path, name: str
) -> None:
    writes = make_python_tool(f"open({name!r}, 'w').write('hits')")
    del writes["stdout"]
    writes["outputs"] = {"o": {"type": "File", "outputBinding": {"glob": "*"}}}
    report = run(runner, make_task(root, writes), [write_input(root / "in" / "a.dat")], seq=3)
    assert report.outcome is AttemptOutcome.FINISHED, report
    (stored,) = report.outputs
    assert len(stored.name.encode()) <= 240
    assert own_name(stored.name).endswith(".csv")
    assert (root / "out" / stored.name).read_text() == "hits"
