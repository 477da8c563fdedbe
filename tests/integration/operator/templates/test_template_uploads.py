"""Uploads of templates over REST: JSON, text, forms, archives."""

import io
import json
import zipfile
from collections.abc import AsyncIterator

import httpx
import pytest

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.templates.templates import NewTemplate, Template
from tests.integration.operator.conftest import Operator
from tests.integration.operator.templates.stored_templates import PARTS, count_rows
from tests.unit.cwl.documents.two_files import TOOL, WORKFLOW
from wfms.operator.templates.usecases.zip_files import zip_files


async def test_upload_of_five_megabytes_is_answered_with_413(operator: Operator) -> None:
    for headers, data in (
        (
            {"content-type": "application/json"},
            b'{"name": "big", "cwl": "' + b"x" * 5_000_000 + b'"}',
        ),
        ({"content-type": "text/plain"}, b"x" * 5_000_000),
    ):
        answer = await operator.http.post(
            "/api/v1/templates?name=big", content=data, headers=headers
        )
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert "2 MiB" in answer.json()["detail"]
    answer = await operator.http.post(
        "/api/v1/templates", data={"name": "big"}, files={"cwl": ("big.cwl", b"x" * 5_000_000)}
    )
    assert answer.status_code == 413
    assert await count_rows(operator) == 0


async def test_upload_sent_in_pieces_is_limited_too(operator: Operator) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield b"x" * 100_000

    answer = await operator.http.post(
        "/api/v1/templates?name=big", content=pieces(), headers={"content-type": "text/plain"}
    )
    assert answer.status_code == 413


async def upload_file(operator: Operator, content: bytes, **fields: str) -> httpx.Response:
    file = ("from-a-file.cwl", content, "application/yaml")
    return await operator.http.post("/api/v1/templates", files={"cwl": file}, data=fields)


async def test_template_is_uploaded_as_a_file_and_as_text(
    operator: Operator, spd_text: str
) -> None:
    unnamed = await upload_file(operator, spd_text.encode())
    assert Template.model_validate_json(unnamed.content).name == "from-a-file"
    named = await upload_file(operator, spd_text.encode(), name="named")
    assert Template.model_validate_json(named.content).name == "named"
    headers = {"content-type": "text/plain; charset=utf-8"}
    bare = await operator.http.post(
        "/api/v1/templates?name=bare", content=spd_text.encode(), headers=headers
    )
    assert Template.model_validate_json(bare.content).name == "bare"
    malformed = await upload_file(operator, b"class: [")
    assert malformed.status_code == 422
    assert {finding["file"] for finding in malformed.json()["findings"]} == {"from-a-file.cwl"}
    undecodable = await upload_file(operator, b"class: Workflow\n\xff\xfe")
    assert undecodable.status_code == 422
    assert "UTF-8" in undecodable.text


MALFORMED = [
    b"{",
    b"[]",
    b'{"name": "x"}',
    b'{"name": "../x", "cwl": "a"}',
    b'{"name": "x", "cwl": "a", "y": 1}',
]


async def test_malformed_request_is_answered_with_findings(
    operator: Operator, subtests: pytest.Subtests
) -> None:
    for body in MALFORMED:
        with subtests.test(body=body):
            answer = await operator.http.post(
                "/api/v1/templates", content=body, headers={"content-type": "application/json"}
            )
            assert answer.status_code == 422
            assert answer.json()["findings"]


def make_zip(files: dict[str, str]) -> bytes:
    return zip_files(files).getvalue()


def make_form_files(files: dict[str, str]) -> list[tuple[str, tuple[str, bytes]]]:
    return [("files", (path, text.encode())) for path, text in files.items()]


async def test_equal_files_are_the_same_template_however_they_are_uploaded(
    operator: Operator,
) -> None:
    first = await operator.client.store_template(NewTemplate(name="parts", files=PARTS))
    assert (first.version, first.main, first.files, first.cwl) == (
        1,
        "flow/workflow.cwl",
        PARTS,
        WORKFLOW,
    )
    http = operator.http
    zip_type = {"content-type": "application/zip"}
    ways = [
        await http.post(
            "/api/v1/templates", json={"name": "parts", "files": PARTS, "main": "flow/workflow.cwl"}
        ),
        await http.post("/api/v1/templates?name=parts", content=make_zip(PARTS), headers=zip_type),
        await http.post("/api/v1/templates", data={"name": "parts"}, files=make_form_files(PARTS)),
        await http.post("/api/v1/templates", files={"file": ("parts.zip", make_zip(PARTS))}),
    ]
    assert [answer.status_code for answer in ways] == [200] * 4, [answer.text for answer in ways]
    assert {answer.json()["id"] for answer in ways} == {str(first.id)}
    assert (await operator.client.get_template("parts")).files == PARTS
    assert (await operator.client.list_templates()).templates[0].files is None
    zipped = await http.get("/templates/parts/files?version=1")
    with zipfile.ZipFile(io.BytesIO(zipped.content)) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == PARTS
    other = await operator.client.store_template(
        NewTemplate(name="parts", files=PARTS | {"flow/notes.txt": "2"})
    )
    assert other.version == 2, "an unused file belongs to the template, too"
    assert (await operator.client.get_template("parts", version=1)).files == PARTS


async def test_findings_in_several_files_name_their_file(operator: Operator) -> None:
    bad = PARTS | {
        "flow/tools/join.cwl": TOOL.replace("baseCommand", "baseComand"),
        "flow/workflow.cwl": WORKFLOW + "x: 1\n",
    }
    with pytest.raises(Unprocessable) as refusal:
        await operator.client.store_template(NewTemplate(name="bad", files=bad))
    assert {finding.file for finding in refusal.value.findings} == {
        "flow/tools/join.cwl",
        "flow/workflow.cwl",
    }
    assert all(finding.line and finding.column for finding in refusal.value.findings)
    checked = await operator.http.post("/api/v1/templates/check", json={"files": bad})
    assert checked.json()["findings"] == [
        finding.model_dump() for finding in refusal.value.findings
    ]
    outside = await operator.http.post(
        "/api/v1/templates/check",
        json={"cwl": WORKFLOW.replace("tools/", "/etc/"), "file": "a.cwl"},
    )
    assert "is an absolute path" in outside.json()["findings"][0]["message"]
    assert outside.json()["findings"][0]["file"] == "a.cwl"
    for files in ({}, {"../a.cwl": "x"}, {"a\ud800.cwl": "x"}, {"a.cwl": "\ud800"}):
        answer = await operator.http.post(
            "/api/v1/templates",
            content=json.dumps({"name": "bad", "files": files}).encode(),
            headers={"content-type": "application/json"},
        )
        assert (answer.status_code, bool(answer.json()["findings"])) == (422, True)
    bomb = {"file": ("bomb.zip", make_zip({"a.cwl": "0" * 100_000_000}))}
    answer = await operator.http.post("/api/v1/templates", files=bomb)
    assert (answer.status_code, answer.json()["findings"][0]["file"]) == (422, "a.cwl")
    unnamed = await operator.http.post(
        "/api/v1/templates", files=make_form_files({"a.cwl": "x", "b.cwl": "y"})
    )
    assert "several files need one" in unnamed.json()["detail"]
    assert await count_rows(operator) == 0


async def test_processes_of_a_packed_document_are_different_templates(operator: Operator) -> None:
    """A document without ``main`` is a template only with the id of a process."""
    tools = "".join(
        f"- {{id: {name}, class: CommandLineTool, inputs: {{}}, outputs: {{{name}: stdout}},"
        " baseCommand: date}\n"
        for name in ("one", "two")
    )
    files = {"packed.cwl": f"cwlVersion: v1.2\n$graph:\n{tools}"}
    for replaces, process in enumerate(("one", "two")):
        new = NewTemplate(name="x", files=files, main=f"packed.cwl#{process}", replaces=replaces)
        stored = await operator.client.store_template(new)
        assert (stored.version, [output.name for output in stored.plan.outputs]) == (
            replaces + 1,
            [process],
        )
        assert (await operator.client.store_template(new)).version == stored.version
        run = await operator.client.store_run_template(new)
        assert [output.name for output in run.plan.outputs] == [process]
    shown = await operator.client.get_template("x")
    assert (shown.main, shown.cwl) == ("packed.cwl#two", files["packed.cwl"])
    assert "baseCommand" in (await operator.http.get("/templates/x")).text
    with pytest.raises(Unprocessable, match="was not stored: 1 error in its text"):
        await operator.client.store_template(NewTemplate(name="y", files=files))
