"""Tests of the alias without a dot by which a job knows its folder."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilot.folders.dotless_alias import DotlessAlias
from pilot.folders.run_folder import RunFolder
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import make_output, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

#: Takes the first dot in the whole path for the dot before the extension.
PATH_UNTIL_FIRST_DOT = "$(inputs.f.path.split('.')[0]).dat"
JAVASCRIPT = {"class": "InlineJavascriptRequirement"}


@pytest.fixture(scope="module")
def dotted_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner(
        tmp_path_factory.mktemp("home") / ".local" / "sluice",
        environment={"PYTHONPATH": str(Path.cwd())},
    )
    yield runner
    runner.close()
    runner.run.delete()


def make_cat_tool(**fields: Any) -> dict[str, Any]:
    return make_tool(["cat"], arguments=[PATH_UNTIL_FIRST_DOT], requirements=[JAVASCRIPT], **fields)


def read_output(root: Path, report: AttemptReport) -> str:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return (root / "out" / report.outputs[0].name).read_text()


def test_tool_can_cut_its_input_path_at_the_first_dot(dotted_runner: Runner, root: Path) -> None:
    assert (
        read_output(
            root,
            run(
                dotted_runner,
                make_task(root, make_cat_tool()),
                [write_input(root / "in" / "a.dat", data=b"all of it")],
            ),
        )
        == "all of it"
    )


def test_tool_in_an_inner_workflow_can_cut_its_input_path_at_the_first_dot(
    dotted_runner: Runner, root: Path
) -> None:
    workflow = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"f": "File"},
        "outputs": {"o": {"type": "File", "outputSource": "last/o"}},
        "steps": {
            "first": {
                "run": make_cat_tool(stdout="first.dat", outputs={"o": {"type": "stdout"}}),
                "in": {"f": "f"},
                "out": ["o"],
            },
            "last": {
                "run": make_cat_tool(outputs={"o": {"type": "stdout"}}),
                "in": {"f": "first/o"},
                "out": ["o"],
            },
        },
    }
    assert (
        read_output(
            root,
            run(
                dotted_runner,
                make_task(root, workflow),
                [write_input(root / "in" / "a.dat", data=b"all of it")],
            ),
        )
        == "all of it"
    )


def test_outputs_named_by_the_real_path_are_accepted(dotted_runner: Runner, root: Path) -> None:
    script = """echo fine > made.txt; real=`pwd -P`; ln -s "$real/made.txt" link.txt
        named='"path": "'$real'/made.txt"'
        link='{"class": "File", "path": "link.txt"}'
        echo '{"o": {"class": "File", '"$named"'}, "l": '"$link"'}' > cwl.output.json"""
    executable = make_tool(["sh", "-c"], arguments=[script], outputs={"o": "File", "l": "File"})
    report = run(
        dotted_runner,
        make_task(root, executable, outputs=[make_output(root, "o"), make_output(root, "l", "l")]),
        [write_input(root / "in" / "a.dat")],
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message


def test_alias_is_restored_when_missing_and_deleted_with_the_run(tmp_path: Path) -> None:
    run_folder = RunFolder(tmp_path / "ho.me" / str(uuid.uuid4()))
    run_folder.make()
    work = run_folder.work_folder(1)
    [alias_folder, real] = work.list_folders(plain=True)
    assert "." not in alias_folder.path
    assert os.path.samefile(alias_folder.path, real.path)
    assert work.list_folders(plain=False) == [real]
    link = Path(alias_folder.path).parent
    link.unlink()
    link.parent.rmdir()
    assert work.list_folders(plain=True)[0] == alias_folder
    assert os.path.samefile(alias_folder.path, real.path)
    run_folder.delete()
    assert not os.path.lexists(link.parent)


def test_folder_without_a_dot_has_no_alias(tmp_path: Path) -> None:
    work = RunFolder(tmp_path / str(uuid.uuid4())).work_folder(1)
    assert work.list_folders(plain=True) == work.folders


def test_foreign_link_at_the_place_of_the_alias_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pilot.folders.dotless_alias._places", lambda: [str(tmp_path)])
    (tmp_path / "sluice-x").mkdir()
    (tmp_path / "sluice-x" / "slots").symlink_to(tmp_path)
    own_folder = tmp_path / "ho.me"
    name = DotlessAlias(str(own_folder), "x")
    assert name.find_path() == str(own_folder)
    name.remove()
    assert (tmp_path / "sluice-x" / "slots").is_symlink()
