"""Pages of templates without a browser: several files, versions, warnings, deletion."""

import html
import io
import re
import zipfile

import asyncpg
import httpx

from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.templates import NewTemplate
from sluice.text.visible_text import REORDERING
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.unit.cwl.documents.two_files import TOOL, WORKFLOW

PARTS = {"flow/workflow.cwl": WORKFLOW, "flow/tools/join.cwl": TOOL}


async def send(operator: Operator, files: dict[str, str], **fields: str) -> httpx.Response:
    token = read_token(await operator.http.get("/templates"))
    parts = [("folder", (path, text.encode())) for path, text in files.items()]
    return await operator.http.post(
        "/templates", data={"csrf_token": token, **fields}, files=[*parts, ("file", ("", b""))]
    )


async def publish_upload(operator: Operator, sent: httpx.Response) -> httpx.Response:
    """Publish an upload from its review page."""
    assert sent.status_code == 303, sent.text
    review = await operator.http.get(sent.headers["location"])
    replaces = re.search(r'name="replaces" value="(\d+)"', review.text)
    assert replaces is not None, review.text
    form = {"csrf_token": read_token(review), "replaces": replaces[1]}
    return await operator.http.post(sent.headers["location"], data=form)


TURNED = """\
cwlVersion: v1.2
class: Workflow
doc: "TURNED"
inputs: {text: File}
outputs: {same: {type: File, outputSource: copy/same}}
steps:
  copy:
    in: {text: text}
    out: [same]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, "TURNED"]
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {same: stdout}
"""


async def test_folder_is_uploaded_with_the_form_and_shown_file_by_file(operator: Operator) -> None:
    stored = await publish_upload(operator, await send(operator, PARTS))
    assert (stored.status_code, stored.headers["location"]) == (303, "/templates/flow"), stored.text
    assert (await operator.client.get_template("flow")).files == PARTS
    page = (await operator.http.get("/templates/flow")).text
    assert "Published as version 1." in page
    assert page.index("flow/workflow.cwl</code>") < page.index("flow/tools/join.cwl</code>"), (
        "the workflow comes first"
    )
    assert 'id="L1"' in page
    assert 'id="F2-L1"' in page
    data = (await operator.http.get("/templates/flow/files")).content
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == PARTS
    zipped = {"file": ("again.zip", data)}
    token = read_token(await operator.http.get("/templates"))
    await operator.http.post("/templates", data={"csrf_token": token, "name": "flow"}, files=zipped)
    assert "nothing was changed" in (await operator.http.get("/templates/flow")).text


async def test_findings_are_shown_in_the_file_that_they_belong_to(operator: Operator) -> None:
    page = await send(
        operator, PARTS | {"flow/tools/join.cwl": TOOL.replace("baseCommand", "baseComand")}
    )
    assert page.status_code == 422
    assert '<code>flow/tools/join.cwl</code>, <a href="#F2-L3">line 3</a>' in page.text
    assert re.search(r'id="F2-L3".*?</div>\s*<p class="finding error">', page.text, re.DOTALL)
    missing = await send(operator, {"flow/workflow.cwl": WORKFLOW})
    assert "flow/tools/join.cwl&#39; is not in the upload" in missing.text
    several = await send(operator, {"a.cwl": "<script>alert(1)</script>", "b.cwl": "x"}, name="x")
    assert several.status_code == 422
    assert "<script>alert" not in several.text
    assert (await operator.client.list_templates()).templates == []


async def test_warnings_are_shown_after_a_successful_upload(operator: Operator) -> None:
    slow = PARTS | {"flow/tools/join.cwl": TOOL.replace("timelimit: 10", "timelimit: 0")}
    await publish_upload(operator, await send(operator, slow))
    page = (await operator.http.get("/templates/flow")).text
    assert "1 warning" in page
    assert '<code>flow/tools/join.cwl</code>, <a href="#F2-L11">line 11</a>, column 19' in page
    assert re.search(r'id="F2-L11".*?</div>\s*<p class="finding warning">', page, re.DOTALL)


async def test_old_version_is_shown_and_restored(operator: Operator, spd_text: str) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text + "# two\n"))
    page = await operator.http.get("/templates/spd?version=1")
    assert "Restore version 1" in page.text
    assert "Make the next version" not in page.text, "only the latest version offers the next one"
    form = {"csrf_token": read_token(page), "version": "1"}
    assert (await operator.http.post("/templates/spd/restore", data=form)).status_code == 303
    assert "Published as version 3." in (await operator.http.get("/templates/spd")).text
    await operator.http.post("/templates/spd/restore", data=form)
    assert "nothing was changed" in (await operator.http.get("/templates/spd")).text
    assert (await operator.client.get_template("spd")).cwl == spd_text
    assert (
        await operator.http.post("/templates/spd/restore", data=form | {"version": "9"})
    ).status_code == 404


async def test_changes_are_shown_before_publication(operator: Operator) -> None:
    await publish_upload(operator, await send(operator, PARTS))
    changed = PARTS | {
        "flow/workflow.cwl": WORKFLOW.replace("type: raw", "type: [raw, <hot>]"),
        "flow/tools/join.cwl": TOOL.replace("timelimit: 10", "timelimit: 20"),
    }
    sent = await send(operator, changed)
    review = (await operator.http.get(sent.headers["location"])).text
    assert "v1 → v2" in review
    assert "is raw → is one of raw, &lt;hot&gt;" in review
    assert "resources.time_limit: 10 → 20" in review
    assert re.search(r'class="line removed"><code>-.*type: raw', review)
    assert re.search(r'class="line added"><code>\+.*&lt;hot&gt;', review)
    assert (await operator.client.get_template("flow")).version == 1, "the review publishes nothing"
    assert (await operator.client.list_run_templates()).templates == [], (
        "the review stores no run template"
    )
    await operator.client.store_template(
        NewTemplate(name="flow", files=PARTS | {"flow/more.txt": "1"})
    )
    form = {"csrf_token": read_token(await operator.http.get("/templates")), "replaces": "1"}
    overtaken = await operator.http.post(sent.headers["location"], data=form)
    assert overtaken.status_code == 409
    assert "v2 → v3" in overtaken.text
    assert "the latest version is 2 now" in overtaken.text
    assert (await operator.client.get_template("flow")).version == 2
    assert (await publish_upload(operator, sent)).headers["location"] == "/templates/flow"
    assert (await operator.client.get_template("flow")).files == changed
    assert (await operator.http.get(sent.headers["location"])).status_code == 404, (
        "the draft is deleted after its publication"
    )


async def test_unpublished_draft_is_deleted_after_a_week(operator: Operator) -> None:
    sent = await send(operator, PARTS)
    connection = await asyncpg.connect(operator.database_url)
    await connection.execute("UPDATE run_templates SET created_at = now() - interval '8 days'")
    await connection.close()
    assert (await operator.http.get(sent.headers["location"])).status_code == 200
    await send(operator, PARTS, name="other")
    assert (await operator.http.get(sent.headers["location"])).status_code == 404


async def test_run_template_is_published_from_its_page(operator: Operator, spd_text: str) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    run = await operator.client.store_run_template(
        NewTemplate(name="spd", cwl=spd_text + "# tried\n")
    )
    page = (await operator.http.get(f"/run-templates/{run.id}")).text
    assert f'href="/templates/review/{run.id}"' in page
    review = await operator.http.get(f"/templates/review/{run.id}")
    form = {"csrf_token": read_token(review), "replaces": "1"}
    assert (await operator.http.post(f"/templates/review/{run.id}", data=form)).status_code == 303
    assert (await operator.client.get_template("spd")).cwl == run.cwl
    assert [template.id for template in (await operator.client.list_run_templates()).templates] == [
        run.id
    ], "the run template is kept"
    assert (
        "there is nothing to publish"
        in (await operator.http.get(f"/templates/review/{run.id}")).text
    )


async def test_deletion_of_a_template_in_use_names_its_chains(
    operator: Operator, spd_text: str
) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    dataset = await operator.client.register_dataset(NewDataset(name="run-1"))
    chain = await operator.client.request_chain(dataset.uid, "spd")
    token = read_token(await operator.http.get("/templates/spd"))
    refusal = await operator.http.post("/templates/spd/delete", data={"csrf_token": token})
    assert refusal.status_code == 409
    assert f'<a href="/chains/{chain.uid}">{html.escape(dataset.name)}</a>' in refusal.text


async def test_commands_are_shown_in_execution_order(operator: Operator) -> None:
    """The text has escaped characters that reverse the direction of text."""
    text = TURNED.replace("TURNED", "\\u202ehtap/ fr- mr\\u202c")
    await operator.client.store_template(NewTemplate(name="turned", cwl=text))
    page = (await operator.http.get("/templates/turned")).text
    assert "&lt;U+202E&gt;htap/ fr- mr&lt;U+202C&gt;" in page
    assert not REORDERING & set(page)
