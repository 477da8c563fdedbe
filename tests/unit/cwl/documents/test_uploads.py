"""Templates of several uploaded files; the compiler reads only what is in the upload."""

import io
import os
import socket
import stat
import zipfile
from pathlib import Path
from typing import Any, NoReturn

import pytest

from sluice.cwl import (
    Upload,
    UploadRefused,
    compile_template,
    compile_upload,
    gather_files,
    is_zip,
    take_files,
    unpack_zip,
)
from tests.unit.cwl.documents.archives import zip_files
from tests.unit.cwl.documents.two_files import TOOL, WORKFLOW
from tests.unit.cwl.samples import LINEAR

FILES: dict[str, str | bytes] = {"flow/workflow.cwl": WORKFLOW, "flow/tools/join.cwl": TOOL}


def replace_doc(doc: str) -> str:
    """Return the workflow with another ``doc``."""
    first, _, rest = WORKFLOW.partition("doc: ")
    return f"{first}doc: {doc}\n{rest.partition(chr(10))[2]}"


def list_errors(upload: Upload) -> list[tuple[str | None, int | None, str]]:
    compiled = compile_upload(upload, name="t").compiled
    assert (compiled.plan is None) == bool(compiled.errors)
    return [(error.file, error.line, error.message) for error in compiled.errors]


def list_refusals(files: dict[str, str | bytes] | bytes) -> str:
    with pytest.raises(UploadRefused) as caught:
        take_files(unpack_zip(files) if isinstance(files, bytes) else files)
    return "\n".join(map(str, caught.value.findings))


def test_several_files_form_one_template_and_stay_unchanged() -> None:
    upload = take_files(unpack_zip(zip_files(FILES)))
    assert upload.texts == FILES
    compiled = compile_upload(upload, name="t")
    assert compiled.main == "flow/workflow.cwl"
    assert compiled.compiled.plan == compile_template(LINEAR, name="t").plan
    assert compiled.document is not None
    assert compiled.document["steps"]["join"]["run"]["baseCommand"] == "cat"


def test_findings_name_the_file_and_the_place_in_it() -> None:
    files = FILES | {"flow/tools/join.cwl": TOOL.replace("baseCommand", "baseComand")}
    assert [(file, line) for file, line, _ in list_errors(take_files(files))] == [
        ("flow/tools/join.cwl", 3)
    ]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("../secret.cwl", "is not in the upload"),
        ("../../secret.cwl", "is outside of what was uploaded"),
        ("%2e%2e/%2e%2e/secret.cwl", "is outside of what was uploaded"),
        ("/etc/passwd", "is an absolute path"),
        ("file:///etc/passwd", "is an absolute path"),
        ("C:\\tool.cwl", "is an absolute path"),
        ("http://127.0.0.1:9/x.cwl", "is an address"),
        ("https://example.org/x.cwl#main", "is an address"),
        ("ftp://example.org/x.cwl", "is an address"),
        ("data:text/plain,class", "is an address"),
        ("tools/jion.cwl", "did you mean 'flow/tools/join.cwl'?"),
        ("picture.png", "is not text in UTF-8"),
    ],
)
def test_compiler_reads_nothing_outside_the_upload(
    run: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.cwl").write_text(TOOL)
    (tmp_path / "flow").mkdir()
    monkeypatch.chdir(tmp_path / "flow")
    workflow = WORKFLOW.replace("tools/join.cwl", f"'{run}'")
    upload = take_files(FILES | {"flow/workflow.cwl": workflow, "flow/picture.png": b"\x89PNG\xff"})
    ((file, line, error_message),) = list_errors(upload)
    assert (file, line) == (
        "flow/workflow.cwl",
        WORKFLOW.splitlines().index("    run: tools/join.cwl") + 1,
    )
    assert message in error_message
    for key in ("$import", "$include"):
        text = replace_doc(f"{{{key}: '{run}'}}")
        found_there = list_errors(
            take_files(FILES | {"flow/workflow.cwl": text, "flow/picture.png": b"\x89PNG\xff"})
        )
        assert any(message in error_message for _, _, error_message in found_there), found_there


def test_workflow_without_references_to_it_is_the_main_file() -> None:
    inner = {"inner.cwl": LINEAR, "readme.md": "no CWL", "notes.yml": "a: 1\n"}
    outer = LINEAR.replace("class: Workflow", "class: Workflow\nlabel: outer", 1)
    assert compile_upload(take_files(inner), name="t").main == "inner.cwl"
    both = list_errors(take_files(inner | {"other.cwl": outer}))
    assert [message for _, _, message in both] == [
        "several of the files are workflows that no other refers to: inner.cwl, other.cwl; say"
        " which is the main one"
    ]
    assert compile_upload(take_files(inner | {"a/main.cwl": outer}), name="t").main == "a/main.cwl"
    assert (
        compile_upload(take_files(inner | {"other.cwl": outer}, main="other.cwl"), name="t").main
        == "other.cwl"
    )
    assert "there is no file 'none.cwl'" in list_errors(take_files(inner, main="none.cwl"))[0][2]
    assert (
        "several of the files are tools that no other refers to: a.cwl, b.cwl"
        in list_errors(take_files({"a.cwl": TOOL, "b.cwl": TOOL}))[0][2]
    )


def test_unreadable_file_may_be_the_main_file() -> None:
    ((file, _, message),) = list_errors(take_files({"broken.cwl": "class: [", "inner.cwl": LINEAR}))
    assert file == "broken.cwl"
    assert "not YAML" in message


def test_process_of_a_graph_brings_the_processes_it_runs() -> None:
    graph = """cwlVersion: v1.2
$graph:
- id: outer
  class: Workflow
  requirements: {ToolTimeLimit: {timelimit: 60}}
  inputs: {parts: "File[]", note: string?}
  outputs: {joined: {type: File, outputSource: it/joined}}
  steps: {it: {in: {parts: parts}, out: [joined], run: "#tool"}}
- id: tool
""" + "\n".join("  " + line for line in TOOL.splitlines()[1:])  # fmt: skip
    workflow = WORKFLOW.replace("tools/join.cwl", "all.cwl#outer").replace(
        "{}\n", "{}\n  SubworkflowFeatureRequirement: {}\n", 1
    )
    files: dict[str, str | bytes] = {"workflow.cwl": workflow, "all.cwl": graph}
    compiled = compile_upload(take_files(files), name="t").compiled
    assert compiled.plan is not None, compiled.findings
    assert "'baseCommand': 'cat'" in str(compiled.plan.step("join").tool)
    round_about = files | {"all.cwl": graph.replace('"#tool"', '"all.cwl#outer"')}
    assert any(
        "refers to itself" in message for _, _, message in list_errors(take_files(round_about))
    )


def test_exponential_imports_are_stopped() -> None:
    files: dict[str, str | bytes] = {
        "workflow.cwl": replace_doc("{$import: l0.yml}"),
        "tools/join.cwl": TOOL,
    }
    for level in range(12):
        files[f"l{level}.yml"] = "[" + ", ".join([f"{{$import: l{level + 1}.yml}}"] * 10) + "]"
    files["l12.yml"] = "[end]"
    assert any(
        "too many for a template" in message for _, _, message in list_errors(take_files(files))
    )
    many = "[" + ", ".join(["{$include: long.txt}"] * 900) + "]"
    files = {"workflow.cwl": replace_doc(many), "tools/join.cwl": TOOL, "long.txt": "x" * 100_000}
    assert any("more than 2 MiB" in message for _, _, message in list_errors(take_files(files)))


def test_binary_file_is_left_out_with_a_warning() -> None:
    compiled = compile_upload(
        take_files(FILES | {"flow/a.png": b"\xff", "flow/nul.txt": "a\x00b"}), name="t"
    ).compiled
    assert compiled.plan is not None
    assert [
        (finding.file, finding.message.partition(",")[0])
        for finding in compiled.warnings
        if "left out" in finding.message
    ] == [
        ("flow/a.png", "it is not text in UTF-8"),
        ("flow/nul.txt", "it holds a NUL character: no text"),
    ]


def test_hidden_files_are_left_out() -> None:
    hidden: dict[str, str | bytes] = {
        "flow/.git/config": "x",
        "__MACOSX/flow/._workflow.cwl": b"\xff",
        ".DS_Store": b"\x00",
    }
    assert take_files(unpack_zip(zip_files(FILES | hidden))).texts == FILES


@pytest.mark.parametrize(
    "name",
    [
        "/etc/x.cwl",
        "../x.cwl",
        "a/../../x.cwl",
        "a//b.cwl",
        "./x.cwl",
        "C:/x.cwl",
        "a\\b.cwl",
        "a\nb.cwl",
        "x" * 241,
    ],
)
def test_file_names_with_unsafe_paths_are_refused(name: str) -> None:
    assert "path" in list_refusals({name: "x"})
    assert "path" in list_refusals(zip_files({name: "x"}))


def test_zip_bomb_is_stopped_while_it_is_unpacked() -> None:
    bomb = zip_files({"big.cwl": b"0" * 300_000_000})
    assert len(bomb) < 400_000
    assert "more than 2097152 bytes (2 MiB) unpacked" in list_refusals(bomb)
    # Make the entry claim a small size.
    small = bytearray(bomb)
    where = small.rfind(b"PK\x01\x02")
    small[where + 24 : where + 28] = (10).to_bytes(4, "little")
    assert "zip" in list_refusals(bytes(small)) or "unpacked" in list_refusals(bytes(small))
    together = zip_files({f"{number}.txt": b"0" * 2_000_000 for number in range(6)})
    assert "8 MiB" in list_refusals(together)
    assert "501 files" in list_refusals(zip_files({f"{number}.txt": b"" for number in range(501)}))


def test_links_and_special_entries_of_a_zip_are_refused() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        link = zipfile.ZipInfo("flow/tools/join.cwl")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        pipe = zipfile.ZipInfo("pipe")
        pipe.external_attr = (stat.S_IFIFO | 0o777) << 16
        archive.writestr(pipe, "")
        locked = zipfile.ZipInfo("locked")
        archive.writestr(locked, "x")
        locked.flag_bits |= 1
        archive.writestr("packed", "x", compress_type=zipfile.ZIP_BZIP2)
        archive.writestr("twice", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("twice", "2")
    messages = list_refusals(data.getvalue())
    for expected in (
        "join.cwl: error: a link",
        "pipe: error: not a plain",
        "locked: error: locked",
        "packed: error: comp",
        "twice: error: twice",
    ):
        assert expected in messages


@pytest.mark.parametrize(
    "data",
    [b"PK\x03\x04", b"PK\x05\x06" + b"\0" * 10, zip_files({"a.cwl": "x" * 5000})[:-30], b""],
    ids=["start", "end", "cut", "empty"],
)
def test_broken_zip_is_refused(data: bytes) -> None:
    assert "the zip cannot be read" in list_refusals(data)


def test_zip_is_recognized_by_its_first_bytes() -> None:
    assert is_zip(zip_files(FILES))
    assert is_zip(zip_files({}))
    assert not is_zip(b"cwlVersion: v1.2")


def test_empty_upload_is_refused() -> None:
    assert "there is no file" in list_refusals(zip_files({}))
    assert "there is no file" in list_refusals({})


def test_files_on_disk_are_gathered_unchanged(tmp_path: Path) -> None:
    for name, text in {
        "flow/sub/workflow.cwl": WORKFLOW.replace("tools/", "../tools/"),
        "flow/tools/join.cwl": TOOL.replace("\n", "\r\n"),
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    main, files = gather_files(tmp_path / "flow" / "sub" / "workflow.cwl")
    assert main == "sub/workflow.cwl"
    assert files == {
        "sub/workflow.cwl": WORKFLOW.replace("tools/", "../tools/"),
        "tools/join.cwl": TOOL.replace("\n", "\r\n"),
    }
    assert compile_upload(take_files(files, main=main), name="t").compiled.plan is not None


def test_checks_use_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings are the same without network, also for texts with foreign addresses."""
    foreign = WORKFLOW.replace(
        "class: Workflow",
        "class: Workflow\n$namespaces: {edam: 'http://127.0.0.1:9/edam_'}\n$schemas: ['http://127.0.0.1:9/x.owl']",
        1,
    )
    uploads = [
        take_files(FILES),
        take_files(FILES | {"flow/workflow.cwl": foreign}),
        take_files(
            FILES
            | {
                "flow/workflow.cwl": WORKFLOW.replace(
                    "tools/join.cwl", "http://127.0.0.1:9/join.cwl"
                )
            }
        ),
        take_files(
            FILES
            | {"flow/tools/join.cwl": TOOL.replace("File[]", "http://127.0.0.1:9/types.yml#mine")}
        ),
    ]
    with_network = [compile_upload(upload, name="t").compiled.findings for upload in uploads]

    def cut(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the network was asked")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, cut)
    for name in ("getaddrinfo", "create_connection", "gethostbyname"):
        monkeypatch.setattr(socket, name, cut)
    assert [
        compile_upload(upload, name="t").compiled.findings for upload in uploads
    ] == with_network
    with pytest.raises(AssertionError, match="the network was asked"):
        socket.create_connection(("127.0.0.1", 9))


def test_compiler_opens_no_file_on_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compile_upload(take_files(FILES), name="t")  # let the libraries read their own files
    opened: list[str] = []
    really = os.open

    def note(path: Any, *arguments: Any, **named: Any) -> int:
        opened.append(str(path))
        return really(path, *arguments, **named)

    monkeypatch.setattr(os, "open", note)
    monkeypatch.setattr("builtins.open", lambda path, *_, **__: opened.append(str(path)))
    assert compile_upload(take_files(FILES), name="t").compiled.plan is not None
    assert opened == []
