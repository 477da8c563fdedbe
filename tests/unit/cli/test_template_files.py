"""Files that `sluice template upload` sends."""

import zipfile
from pathlib import Path

import pytest

from sluice.clientkit.template_files import read_template_files, template_name
from sluice.cwl import PackError, UploadRefused
from sluice.cwl.compiler import compile_upload
from tests.unit.cli.check_command import check
from tests.unit.cwl.documents.two_files import TOOL, WORKFLOW


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow" / "tools").mkdir(parents=True)
    (tmp_path / "flow" / ".git").mkdir()
    (tmp_path / "flow" / ".git" / "config").write_text("x")
    (tmp_path / "flow" / "workflow.cwl").write_text(WORKFLOW)
    (tmp_path / "flow" / "tools" / "join.cwl").write_text(TOOL)
    (tmp_path / "flow" / "readme.md").write_text("A workflow.")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "flow" / "link.txt").symlink_to(tmp_path / "secret.txt")
    return tmp_path / "flow"


def test_workflow_file_is_uploaded_with_the_files_it_refers_to(folder: Path) -> None:
    template_files = read_template_files([folder / "workflow.cwl"])
    assert (template_files.name, template_files.upload.main) == ("flow", "workflow.cwl")
    assert template_files.upload.texts == {"workflow.cwl": WORKFLOW, "tools/join.cwl": TOOL}
    assert template_files.display_path("tools/join.cwl") == str(folder / "tools" / "join.cwl")
    deeper = folder / "sub" / "main.cwl"
    deeper.parent.mkdir()
    deeper.write_text(WORKFLOW.replace("tools/", "../tools/"))
    template_files = read_template_files([deeper])
    assert (template_files.name, sorted(template_files.upload.texts)) == (
        "sub",
        ["sub/main.cwl", "tools/join.cwl"],
    )
    assert template_files.display_path("sub/main.cwl") == str(deeper)


def test_folder_is_uploaded_without_hidden_files_and_links_out_of_it(folder: Path) -> None:
    template_files = read_template_files([folder])
    assert template_files.name == "flow"
    assert sorted(template_files.upload.texts) == ["readme.md", "tools/join.cwl", "workflow.cwl"]


def test_several_files_and_a_zip_are_uploaded(folder: Path) -> None:
    several = read_template_files([folder / "workflow.cwl", folder / "tools" / "join.cwl"])
    assert sorted(several.upload.texts) == ["tools/join.cwl", "workflow.cwl"]
    path = folder.parent / "packed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/workflow.cwl", WORKFLOW)
        archive.writestr("a/tools/join.cwl", TOOL)
    zipped = read_template_files([path])
    assert (zipped.name, sorted(zipped.upload.texts)) == (
        "packed",
        ["a/tools/join.cwl", "a/workflow.cwl"],
    )


def test_absolute_paths_and_empty_folders_are_refused(folder: Path) -> None:
    workflow = folder / "workflow.cwl"
    for run in (f"{folder}/tools/join.cwl", f"file://{folder}/tools/join.cwl"):
        workflow.write_text(WORKFLOW.replace("tools/join.cwl", run))
        with pytest.raises(PackError) as refusal:
            read_template_files([workflow])
        assert "so that it can be uploaded with it" in refusal.value.findings[0].message
    (folder / "empty").mkdir()
    with pytest.raises(UploadRefused, match="there is no file"):
        read_template_files([folder / "empty"])


def test_folders_and_zips_are_checked_like_files(folder: Path) -> None:
    code, text = check(folder)
    assert (code, text.splitlines()[-1]) == (
        0,
        f"{folder}: fine; 2 steps: count (map), join (merge)",
    )
    (folder / "tools" / "join.cwl").write_text(TOOL.replace("baseCommand", "baseComand"))
    for path in (folder, folder / "workflow.cwl"):
        code, text = check(path)
        assert code == 1
        assert f"{folder}/tools/join.cwl:3:1: error:" in text
    (folder / "broken.zip").write_bytes(b"PK\x03\x04")
    code, text = check(folder / "broken.zip")
    assert (code, "the zip cannot be read" in text) == (1, True)


def test_template_name_comes_from_the_file_or_folder(tmp_path: Path) -> None:
    assert template_name(Path("clean.cwl")) == "clean"
    assert template_name(tmp_path / "my flow" / "workflow.cwl") == "my-flow"


PACKED = """\
cwlVersion: v1.2
$graph:
- {id: one, class: CommandLineTool, inputs: {}, outputs: {a: stdout}, baseCommand: echo}
- {id: two, class: CommandLineTool, inputs: {}, outputs: {b: stdout}, baseCommand: echo}
"""


def test_process_of_a_packed_document_is_named_by_its_id(folder: Path) -> None:
    path = folder / "packed.cwl"
    path.write_text(PACKED)
    template_files = read_template_files([folder / "packed.cwl#two"])
    assert (template_files.name, template_files.upload.main) == ("two", "packed.cwl#two")
    compiled = compile_upload(template_files.upload, name="t").compiled
    assert compiled.plan is not None, compiled.findings
    assert [output.name for output in compiled.plan.outputs] == ["b"]
    assert check(folder / "packed.cwl#one")[0] == 0
    for name, reason in (("packed.cwl#tow", "did you mean 'two'?"), ("none.cwl#two", "not exist")):
        status, output = check(folder / name)
        assert status != 0
        assert reason in " ".join(output.split())


def test_file_with_a_number_sign_in_its_name_is_a_file(folder: Path) -> None:
    (folder / "tools" / "join.cwl").rename(folder / "join#two.cwl")
    template_files = read_template_files([folder / "join#two.cwl"])
    assert (template_files.name, template_files.upload.main) == ("join-two", "join#two.cwl")
    compiled = compile_upload(template_files.upload, name="t").compiled
    assert compiled.plan is not None, compiled.findings
