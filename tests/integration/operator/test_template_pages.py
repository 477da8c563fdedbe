"""The pages of templates, without a browser: several files, versions, warnings, deleting."""

import html
import io
import re
import zipfile

import httpx

from sluice.contracts.datasets import NewDataset
from sluice.contracts.templates import NewTemplate
from tests.integration.operator.conftest import Operator
from tests.integration.operator.test_pages import token_of
from tests.unit.cwl.test_packing import TOOL, WORKFLOW

PARTS = {"flow/workflow.cwl": WORKFLOW, "flow/tools/join.cwl": TOOL}


async def send(operator: Operator, files: dict[str, str], **fields: str) -> httpx.Response:
    token = token_of(await operator.http.get("/templates"))
    parts = [("folder", (path, text.encode())) for path, text in files.items()]
    return await operator.http.post("/templates", data={"csrf_token": token, **fields}, files=[*parts, ("file", ("", b""))])


async def test_a_folder_by_the_form_and_its_files_on_the_page(operator: Operator) -> None:
    stored = await send(operator, PARTS)
    assert (stored.status_code, stored.headers["location"]) == (303, "/templates/flow"), stored.text
    assert (await operator.client.template("flow")).files == PARTS
    page = (await operator.http.get("/templates/flow")).text
    assert "Stored as version 1." in page
    assert page.index("flow/workflow.cwl</code>") < page.index("flow/tools/join.cwl</code>"), "the workflow first"
    assert 'id="L1"' in page
    assert 'id="F2-L1"' in page
    data = (await operator.http.get("/templates/flow/files")).content
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == PARTS
    zipped = {"file": ("again.zip", data)}
    token = token_of(await operator.http.get("/templates"))
    await operator.http.post("/templates", data={"csrf_token": token, "name": "flow"}, files=zipped)
    assert "nothing was changed" in (await operator.http.get("/templates/flow")).text


async def test_findings_stand_in_the_file_that_they_are_about(operator: Operator) -> None:
    page = await send(operator, PARTS | {"flow/tools/join.cwl": TOOL.replace("baseCommand", "baseComand")})
    assert page.status_code == 422
    assert '<code>flow/tools/join.cwl</code>, <a href="#F2-L3">line 3</a>' in page.text
    assert re.search(r'id="F2-L3".*?</div>\s*<p class="finding error">', page.text, re.DOTALL)
    missing = await send(operator, {"flow/workflow.cwl": WORKFLOW})
    assert "flow/tools/join.cwl is not in the upload" in missing.text
    several = await send(operator, {"a.cwl": "<script>alert(1)</script>", "b.cwl": "x"}, name="x")
    assert several.status_code == 422
    assert "<script>alert" not in several.text
    assert (await operator.client.templates()).templates == []


async def test_warnings_are_shown_after_a_successful_upload(operator: Operator) -> None:
    await send(operator, PARTS | {"flow/tools/join.cwl": TOOL.replace("timelimit: 10", "timelimit: $(runtime.cores)")})
    page = (await operator.http.get("/templates/flow")).text
    assert "1 warning" in page
    assert '<code>flow/tools/join.cwl</code>, <a href="#F2-L11">line 11</a>, column 19' in page
    assert re.search(r'id="F2-L11".*?</div>\s*<p class="finding warning">', page, re.DOTALL)


async def test_an_old_version_is_viewed_and_restored(operator: Operator, spd_text: str) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text + "# two\n"))
    page = await operator.http.get("/templates/spd?version=1")
    assert "Restore version 1" in page.text
    assert "Make the next version" not in page.text, "the next version is made from the latest"
    form = {"csrf_token": token_of(page), "version": "1"}
    assert (await operator.http.post("/templates/spd/restore", data=form)).status_code == 303
    assert "Stored as version 3." in (await operator.http.get("/templates/spd")).text
    await operator.http.post("/templates/spd/restore", data=form)
    assert "nothing was changed" in (await operator.http.get("/templates/spd")).text
    assert (await operator.client.template("spd")).cwl == spd_text
    assert (await operator.http.post("/templates/spd/restore", data=form | {"version": "9"})).status_code == 404


async def test_deleting_one_in_use_names_its_chains(operator: Operator, spd_text: str) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    dataset = await operator.client.register_dataset(NewDataset(name="run-1"))
    chain = await operator.client.request_chain(dataset.uid, "spd")
    token = token_of(await operator.http.get("/templates/spd"))
    asked = await operator.http.post("/templates/spd/delete", data={"csrf_token": token})
    assert asked.status_code == 409
    assert f'<a href="/chains/{chain.uid}">{html.escape(dataset.name)}</a>' in asked.text
