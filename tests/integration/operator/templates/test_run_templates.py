"""Templates of one-off runs stay separate from published templates."""

import re
from uuid import uuid4

import httpx
import pytest

from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.templates import RUN_VERSION, NewTemplate
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.sluice_command import Command
from tests.integration.operator.templates.stored_templates import count_rows
from tests.unit.cwl.samples import LINEAR


async def test_run_template_does_not_affect_published_templates(
    operator: Operator, spd_text: str
) -> None:
    live = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    trial = NewTemplate(name="spd", cwl=spd_text + "# trial\n")
    run = await operator.client.store_run_template(trial)
    assert (run.name, run.version, run.cwl) == ("spd", RUN_VERSION, trial.cwl)
    assert [template.id for template in (await operator.client.list_templates()).templates] == [
        live.id
    ]
    assert (await operator.client.get_template("spd")).cwl == spd_text, (
        "the intake and requests get the published template"
    )
    assert len((await operator.client.list_templates(all=True)).templates) == 1
    following = await operator.client.store_template(
        NewTemplate(name="spd", cwl=spd_text + "# next\n")
    )
    assert following.version == 2, "the run used up no version number"
    assert await count_rows(operator) == 2

    dataset = await operator.client.register_dataset(NewDataset(name="some-files", on_demand=True))
    await operator.client.request_chain(dataset.uid, "spd", run_template=run.id)
    [request] = operator.neighbours.requested
    assert (request.template_id, request.template, request.template_version) == (
        run.id,
        "spd",
        RUN_VERSION,
    )
    await operator.client.delete_template("spd")
    assert operator.neighbours.requested == [request], (
        "the chain of the run does not prevent the deletion"
    )


async def test_equal_files_of_runs_are_one_template(operator: Operator, spd_text: str) -> None:
    first = await operator.http.post("/api/v1/run-templates", json={"name": "spd", "cwl": spd_text})
    again = await operator.http.post("/api/v1/run-templates", json={"name": "spd", "cwl": spd_text})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    other = await operator.client.store_run_template(
        NewTemplate(name="spd", cwl=spd_text + "# 2\n")
    )
    called = await operator.client.store_run_template(NewTemplate(name="else", cwl=spd_text))
    listed = (await operator.client.list_run_templates()).templates
    assert [str(template.id) for template in listed] == [
        str(called.id),
        str(other.id),
        first.json()["id"],
    ], "the latest run is first"
    assert [template.cwl for template in listed] == [None] * 3


async def test_run_templates_are_listed_in_pages(operator: Operator, sluice: Command) -> None:
    templates = [
        await operator.client.store_run_template(NewTemplate(name=f"t{number}", cwl=LINEAR))
        for number in range(5)
    ]
    newest = [template.id for template in reversed(templates)]
    first = await operator.client.list_run_templates(limit=2)
    assert ([template.id for template in first.templates], first.after) == (newest[:2], newest[1])
    last = await operator.client.list_run_templates(limit=3, after=first.after)
    assert ([template.id for template in last.templates], last.after) == (newest[2:], None)
    with pytest.raises(NotFound, match="no run has submitted"):
        await operator.client.list_run_templates(after=uuid4())
    await operator.client.store_template(NewTemplate(name="published", cwl=LINEAR))
    output = await sluice("template", "list", "--all", "--limit", "2")
    assert "published" in output
    assert f"there are more: --after {newest[1]}" in output
    rest = await sluice("template", "list", "--after", str(newest[1]))
    assert all(str(uid) in rest for uid in newest[2:])
    assert "published" not in rest
    assert "there are more" not in rest
    for number in range(60):
        await operator.client.store_run_template(NewTemplate(name=f"many-{number}", cwl=LINEAR))
    [older] = re.findall(
        r'href="(/run-templates\?after=[^"]+)">Older',
        (await operator.http.get("/run-templates")).text,
    )
    assert str(newest[-1]) in (await operator.http.get(older)).text


async def test_run_template_removed_from_the_list_stays_with_its_chains(
    operator: Operator, spd_text: str
) -> None:
    run = await operator.client.store_run_template(NewTemplate(name="spd", cwl=spd_text))
    dataset = await operator.client.register_dataset(NewDataset(name="some-files"))
    chain = await operator.client.request_chain(dataset.uid, "spd", run_template=run.id)
    await operator.client.delete_run_template(run.id)
    assert (await operator.client.list_run_templates()).templates == []
    with pytest.raises(NotFound):
        await operator.client.delete_run_template(run.id)
    page = (await operator.http.get(f"/chains/{chain.uid}")).text
    assert f'href="/run-templates/{run.id}">spd</a> <span class="version">(run)</span>' in page
    assert "Flow" in page
    assert (await operator.client.get_run_template(run.id)).cwl == spd_text
    back = await operator.client.store_run_template(NewTemplate(name="spd", cwl=spd_text))
    assert back.id == run.id
    assert [template.id for template in (await operator.client.list_run_templates()).templates] == [
        run.id
    ]


async def test_invalid_run_template_is_not_stored(operator: Operator, spd_text: str) -> None:
    bad = spd_text.replace("scatter: hits", "scatter: hitz", 1)
    with pytest.raises(Unprocessable) as refusal:
        await operator.client.store_run_template(NewTemplate(name="spd", cwl=bad))
    assert any("hitz" in finding.message for finding in refusal.value.findings)
    assert (await operator.client.list_run_templates()).templates == []


async def test_pages_list_run_templates_separately(operator: Operator, spd_text: str) -> None:
    run = await operator.client.store_run_template(NewTemplate(name="trial", cwl=spd_text))
    assert "trial" not in (await operator.http.get("/templates")).text
    assert "trial" not in (await operator.http.get("/chains/new")).text, (
        "the form does not offer it"
    )
    assert (
        f'href="/run-templates/{run.id}">trial</a>'
        in (await operator.http.get("/run-templates")).text
    )
    page = await operator.http.get(f"/run-templates/{run.id}")
    assert "no data set is matched with it" in page.text
    files = await operator.http.get(f"/run-templates/{run.id}/files")
    assert files.headers["content-disposition"].endswith("trial-run.zip")
    response = await operator.http.post(
        f"/run-templates/{run.id}/delete", data={"csrf_token": read_token(page)}
    )
    assert response.status_code == httpx.codes.SEE_OTHER
    assert f"/run-templates/{run.id}" not in (await operator.http.get("/run-templates")).text
