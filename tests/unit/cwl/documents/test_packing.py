"""Packing of workflows whose tools are in other files."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from sluice.cwl import PackError, compile_file, compile_template, pack_template
from sluice.cwl.compiler import compile_upload
from sluice.cwl.documents.packing import gather_files
from sluice.cwl.reading.uploads import take_files
from tests.unit.cwl.documents.two_files import TOOL, WORKFLOW
from tests.unit.cwl.samples import LINEAR


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "join.cwl").write_text(TOOL)
    path = tmp_path / "workflow.cwl"
    path.write_text(WORKFLOW)
    return path


def test_packed_workflow_compiles_like_a_single_file(workflow: Path) -> None:
    packed = compile_template(pack_template(workflow), name="t")
    assert packed.plan == compile_template(LINEAR, name="t").plan
    compiled, text = compile_file(workflow, name="t")
    assert compiled.plan == packed.plan
    assert text == pack_template(workflow)


def test_single_file_workflow_is_packed_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "workflow.cwl"
    for text in ("# mine\n" + LINEAR, "not: [CWL", "a: 1\na: 2\n"):
        path.write_text(text)
        assert pack_template(path) == text


def test_findings_name_the_file_they_are_in(workflow: Path) -> None:
    tool = workflow.parent / "tools" / "join.cwl"
    tool.write_text(
        TOOL.replace("baseCommand", "baseComand").replace("joined: stdout", "joined: int")
    )
    compiled, _ = compile_file(workflow, name="t")
    assert compiled.plan is None
    assert [
        (Path(error.file or "").relative_to(workflow.parent).as_posix(), error.line)
        for error in compiled.errors
    ] == [
        ("tools/join.cwl", 3),
        ("workflow.cwl", 18),
    ]


def test_imports_and_inclusions_are_replaced_by_their_contents(workflow: Path) -> None:
    folder = workflow.parent / "tools"
    (folder / "ports.yml").write_text("parts: File[]\nnote: string?\n")
    (folder / "about.txt").write_text("Joins: all")
    imported = (
        TOOL.replace("  parts: File[]\n  note: string?\n", "  $import: ports.yml\n")
        + "doc: {$include: about.txt}\n"
    )
    (folder / "join.cwl").write_text(imported)
    compiled, text = compile_file(workflow, name="t")
    assert compiled.plan is not None, compiled.findings
    assert compiled.plan.steps[1].tool["doc"] == "Joins: all"
    assert "$import" not in text


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("tools/none.cwl", "cannot be read: No such file"),
        ("https://example.org/x.cwl", "is an address"),
        ("workflow.cwl", "refers to itself"),
        ("tools/binary.cwl", "not text in UTF-8"),
        ("tools/broken.cwl", "not YAML"),
    ],
)
def test_file_that_cannot_be_packed_is_reported_with_its_place(
    workflow: Path, run: str, message: str
) -> None:
    (workflow.parent / "tools" / "binary.cwl").write_bytes(b"\xff\xfe\x00")
    (workflow.parent / "tools" / "broken.cwl").write_text("a: [")
    workflow.write_text(WORKFLOW.replace("tools/join.cwl", run))
    with pytest.raises(PackError) as caught:
        pack_template(workflow)
    finding = caught.value.findings[0]
    assert message in finding.message
    assert finding.line is not None
    assert compile_file(workflow, name="t")[0].plan is None


DEFAULT = "  lib: {type: File, default: {class: File, LOCATION}}\n"


def write_tool_with_default(workflow: Path, location: str) -> str:
    """Write the tool with a File as the default of an input, and return its text."""
    text = TOOL.replace("inputs:\n", "inputs:\n" + DEFAULT.replace("LOCATION", location), 1)
    (workflow.parent / "tools" / "join.cwl").write_text(text)
    return text


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("location: lib/a%20b.js", "a b.js"),
        ("path: lib/a b.js", "a b.js"),
        ("location: lib/a%20b.js, basename: c.js", "c.js"),
    ],
)
def test_default_file_is_packed_as_a_literal(workflow: Path, location: str, name: str) -> None:
    (workflow.parent / "tools" / "lib").mkdir()
    (workflow.parent / "tools" / "lib" / "a b.js").write_text("é = 1\n")
    tool = write_tool_with_default(workflow, location)
    files = {"workflow.cwl": WORKFLOW, "tools/join.cwl": tool, "tools/lib/a b.js": "é = 1\n"}
    compiled = compile_file(workflow, name="t")[0]
    assert compiled.plan is not None, compiled.findings
    assert compiled.plan.step("join").tool["inputs"]["lib"]["default"] == {
        "class": "File",
        "basename": name,
        "contents": "é = 1\n",
        "size": 7,
    }
    assert compile_template(pack_template(workflow), name="t").plan == compiled.plan
    assert gather_files(workflow) == ("workflow.cwl", files)
    assert compile_upload(take_files(files), name="t").compiled.plan == compiled.plan


def test_secondary_files_of_a_default_file_are_packed_with_it(workflow: Path) -> None:
    tools = workflow.parent / "tools"
    tool = write_tool_with_default(workflow, "location: lib/a%20b.fa").replace(
        "type: File, default", "type: File, secondaryFiles: [.fai, ^.dict, .none?], default"
    )
    (tools / "join.cwl").write_text(tool)
    (tools / "lib").mkdir()
    contents = {"a b.fa": "ACGT", "a b.fa.fai": "4", "a b.dict": "x"}
    for name, content in contents.items():
        (tools / "lib" / name).write_text(content)
    compiled = compile_file(workflow, name="t")[0]
    assert compiled.plan is not None, compiled.findings
    default = compiled.plan.step("join").tool["inputs"]["lib"]["default"]
    assert [(file["basename"], file["contents"]) for file in default["secondaryFiles"]] == [
        ("a b.fa.fai", "4"),
        ("a b.dict", "x"),
    ]
    uploaded = {f"tools/lib/{name}": content for name, content in contents.items()}
    assert gather_files(workflow)[1].items() >= uploaded.items()


DIRECTORY_DEFAULT = "  lib: {type: Directory, default: {class: Directory, location: lib/}}\n"


def test_default_directory_is_packed_as_a_literal(workflow: Path) -> None:
    text = TOOL.replace("inputs:\n", f"inputs:\n{DIRECTORY_DEFAULT}", 1)
    (workflow.parent / "tools" / "join.cwl").write_text(text)
    contents = {"a.txt": "a", "deep/er/b.txt": "b", "deep/c.txt": "é"}
    for name, content in contents.items():
        path = workflow.parent / "tools" / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    compiled = compile_file(workflow, name="t")[0]
    assert compiled.plan is not None, compiled.findings

    def literal(name: str, *, text: str) -> dict[str, object]:
        return {"class": "File", "basename": name, "contents": text, "size": len(text.encode())}

    def directory(name: str, *listing: dict[str, object]) -> dict[str, object]:
        return {"class": "Directory", "basename": name, "listing": list(listing)}

    assert compiled.plan.step("join").tool["inputs"]["lib"]["default"] == directory(
        "lib",
        literal("a.txt", text="a"),
        directory("deep", literal("c.txt", text="é"), directory("er", literal("b.txt", text="b"))),
    )
    files = {"workflow.cwl": WORKFLOW, "tools/join.cwl": text}
    files |= {f"tools/lib/{name}": content for name, content in contents.items()}
    assert gather_files(workflow)[1] == files
    assert compile_upload(take_files(files), name="t").compiled.plan == compiled.plan


@pytest.mark.parametrize(
    ("names", "content"),
    [
        (["a.txt", "b.bin"], b"\xff"),
        (map(str, range(1001)), b""),
        (["a", "b"], b"x" * (1 << 19) + b"x"),
    ],
    ids=["no text", "too many", "too large"],
)
def test_default_directory_that_is_no_literal_is_reported(
    workflow: Path, names: Iterable[str], content: bytes
) -> None:
    text = TOOL.replace("inputs:\n", f"inputs:\n{DIRECTORY_DEFAULT}", 1)
    (workflow.parent / "tools" / "join.cwl").write_text(text)
    (workflow.parent / "tools" / "lib").mkdir()
    for name in names:
        (workflow.parent / "tools" / "lib" / name).write_bytes(content)
    compiled = compile_file(workflow, name="t")[0]
    assert compiled.plan is not None, compiled.findings
    assert any("not part of the template" in warning.message for warning in compiled.warnings)


@pytest.mark.parametrize("kind", ["file", "folder", "pipe"])
def test_default_directory_with_a_link_out_of_it_or_a_pipe_is_not_packed(
    workflow: Path, kind: str
) -> None:
    text = TOOL.replace("inputs:\n", f"inputs:\n{DIRECTORY_DEFAULT}", 1)
    (workflow.parent / "tools" / "join.cwl").write_text(text)
    folder, secret = workflow.parent / "tools" / "lib", workflow.parent / "secret"
    folder.mkdir()
    secret.mkdir()
    (folder / "a.txt").write_text("a")
    (secret / "key").write_text("hush")
    if kind == "pipe":
        os.mkfifo(folder / "b")
    else:
        (folder / "b").symlink_to(secret / "key" if kind == "file" else secret)
    assert "hush" not in "".join(gather_files(workflow)[1].values())
    compiled = compile_file(workflow, name="t")[0]
    assert any("not part of the template" in warning.message for warning in compiled.warnings)


@pytest.mark.parametrize(
    ("location", "content"),
    [
        ("location: lib.bin", b"x" * (1 << 20) + b"x"),
        ("location: lib.bin", b"\xff"),
        ("location: lib.bin", None),
        ("location: /etc/passwd", None),
        ("path: ../../lib.bin", None),
        ("location: 'https://example.org/lib.bin'", None),
    ],
    ids=["too long", "no text", "not there", "absolute", "above", "address"],
)
def test_default_file_outside_the_template_is_reported_with_its_place(
    workflow: Path, location: str, content: bytes | None
) -> None:
    files = {
        "workflow.cwl": WORKFLOW,
        "tools/join.cwl": write_tool_with_default(workflow, location),
    }
    upload = take_files(files if content is None else {**files, "tools/lib.bin": content})
    compiled = compile_upload(upload, name="t").compiled
    assert compiled.plan is not None, compiled.findings
    (warning,) = (one for one in compiled.warnings if one.file == "tools/join.cwl")
    assert "not part of the template" in warning.message
    assert (warning.line, warning.column) == (6, 44)


@pytest.mark.parametrize("kind", ["File", "File?", "['null', File]"])
def test_parameter_with_a_default_outside_the_template_is_required(kind: str) -> None:
    declaration = f"  note: {{type: {kind}, default: {{class: File, path: /big/genome.fa}}}}"
    text = LINEAR.replace("  note: string?", declaration, 1).replace("note: string?", "note: File")
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, compiled.findings
    parameter = compiled.plan.parameters["note"]
    assert (parameter.required, parameter.default) == (True, None)
    assert any("each chain must give 'note'" in one.message for one in compiled.warnings)


def test_files_may_use_one_prefix_for_several_addresses(workflow: Path) -> None:
    (workflow.parent / "tools" / "join.cwl").write_text(
        TOOL.replace("joined: stdout", "joined: {type: stdout, format: x:text}")
        + "x:note: {x:by: me}\n$namespaces: {x: 'https://example.org/tool#'}\n"
    )
    workflow.write_text(
        WORKFLOW.replace("$namespaces:\n", "$namespaces:\n  x: 'https://example.org/workflow#'\n")
        + "x:note: mine\n"
    )
    compiled, text = compile_file(workflow, name="t")
    assert compiled.plan is not None, compiled.findings
    packed = json.loads(text)
    tool = packed["steps"]["join"]["run"]
    assert packed["$namespaces"]["x"] == "https://example.org/workflow#"
    assert packed["x:note"] == "mine"
    assert tool["https://example.org/tool#note"] == {"https://example.org/tool#by": "me"}
    assert tool["outputs"]["joined"]["format"] == "https://example.org/tool#text"


def test_other_address_for_the_prefix_of_sluice_is_an_error(workflow: Path) -> None:
    (workflow.parent / "tools" / "join.cwl").write_text(
        TOOL + "sluice:warm: true\n$namespaces: {sluice: 'urn:sluice:cwl'}\n"
    )
    compiled, _ = compile_file(workflow, name="t")
    [error] = compiled.errors
    assert "the address of Sluice's fields is 'urn:sluice:cwl:'" in error.message
    assert Path(error.file or "").name == "join.cwl"


GRAPH = {
    "cwlVersion": "v1.2",
    "$graph": [
        {
            "class": "CommandLineTool",
            "id": "#first.cwl",
            "hints": [{"class": "ResourceRequirement", "coresMin": 3, "id": "#small.yml"}],
            "baseCommand": "true",
            "inputs": [],
            "outputs": [],
        },
        {
            "class": "CommandLineTool",
            "id": "#second.cwl",
            "hints": [{"$import": "#small.yml"}],
            "baseCommand": "true",
            "inputs": [],
            "outputs": [],
        },
        {
            "class": "Workflow",
            "id": "#main",
            "inputs": [],
            "outputs": [],
            "steps": [
                {"id": f"#main/{name}", "run": f"#{name}.cwl", "in": [], "out": []}
                for name in ("first", "second")
            ],
        },
    ],
}


def test_packed_document_imports_a_requirement_by_its_identifier(tmp_path: Path) -> None:
    path = tmp_path / "packed.json"
    path.write_text(json.dumps(GRAPH))
    compiled, _ = compile_file(path, name="t")
    assert compiled.plan is not None, compiled.findings
    assert [step.needs.resources.cores for step in compiled.plan.steps] == [3, 3]


def test_import_of_an_unknown_identifier_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "packed.json"
    path.write_text(json.dumps(GRAPH).replace('"$import": "#small.yml"', '"$import": "#large.yml"'))
    compiled, _ = compile_file(path, name="t")
    assert [error.message for error in compiled.errors] == [f"{path} has no process 'large.yml'"]


def test_step_runs_only_a_process_that_a_fragment_names(workflow: Path) -> None:
    (workflow.parent / "tools" / "join.cwl").write_text(
        TOOL.replace("  note: string?\n", "  note: {type: string?, id: main}\n")
    )
    workflow.write_text(WORKFLOW.replace("tools/join.cwl", "tools/join.cwl#main"))
    compiled, _ = compile_file(workflow, name="t")
    assert compiled.plan is not None, compiled.findings
    assert compiled.plan.steps[1].tool["class"] == "CommandLineTool"


def test_types_are_imported_by_their_names(workflow: Path) -> None:
    (workflow.parent / "types.yml").write_text(
        "- {name: colour, type: enum, symbols: [red]}\n"
        "- {name: shape, type: enum, symbols: [round]}\n"
    )
    (workflow.parent / "tools" / "join.cwl").write_text(
        TOOL.replace("  note: string?\n", "  note: {type: {$import: ../types.yml#shape}}\n")
    )
    packed = json.loads(pack_template(workflow))
    assert packed["steps"]["join"]["run"]["inputs"]["note"]["type"]["symbols"] == ["round"]
