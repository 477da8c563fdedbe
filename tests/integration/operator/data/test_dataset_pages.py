"""Data sets on pages, by REST and by command, and chains that people start on them."""

import re
from datetime import timedelta
from html import unescape
from uuid import UUID, uuid4

import pytest

from sluice.contracts.chains.intake import Tie
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.datasets import File, NewDataset
from sluice.contracts.templates.templates import NewTemplate
from tests.integration.operator.conftest import Operator
from tests.integration.operator.data.unmatched_datasets import NOW, OTHER, make_closed_dataset
from tests.integration.operator.forms import read_token
from tests.integration.operator.sluice_command import Command
from tests.unit.cwl.samples import edit_text


async def test_rest_tells_why_each_template_does_not_take_a_data_set(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    listed = await operator.client.list_unmatched()
    assert listed.total == 3
    reasons = {
        dataset.dataset_name: {o.template: o.reason for o in dataset.rejection_reasons or []}
        for dataset in listed.datasets
    }
    assert reasons == {
        "fits": {"linear": "", "other": "wants type = 'calibration', which is 'raw'"},
        "lacks": {
            "linear": "wants type = 'raw', which is 'calibration'",
            "other": "matches, but the data set has no value for its parameters limit (from "
            "metadata 'lines'); to give them: sluice chain start DATASET TEMPLATE"
            " --param limit=…",
        },
        "odd": {
            "linear": "wants type = 'raw', which is '<odd>'",
            "other": "wants type = 'calibration', which is '<odd>'",
        },
    }
    assert [
        dataset.dataset_name
        for dataset in (await operator.client.list_unmatched(template="linear")).datasets
    ] == ["fits"]
    assert (await operator.client.list_unmatched(template="other")).total == 0


async def test_rest_matches_and_dismisses_unmatched_data_sets(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    assert (
        await operator.client.rematch(dataset_uid=waiting["odd"])
    ).reason == "no template matches"
    result = await operator.client.rematch_all()
    assert (result.matched, result.left) == (1, 2)
    await operator.client.dismiss_unmatched(waiting["odd"])
    with pytest.raises(NotFound):
        await operator.client.dismiss_unmatched(waiting["odd"])
    with pytest.raises(NotFound):
        await operator.client.rematch(dataset_uid=waiting["odd"])
    await operator.client.request_chain(waiting["lacks"], "linear")
    assert (await operator.client.list_unmatched()).total == 0, (
        "a data set with a chain is no longer unmatched"
    )


async def test_dismiss_all_keeps_data_sets_that_came_after_the_page(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    page = await operator.http.get("/datasets/unmatched")
    until = re.search(r'name="until" value="([^"]+)"', page.text)
    assert until is not None
    late = operator.neighbours.unmatched[waiting["odd"]]
    operator.neighbours.unmatched[waiting["odd"]] = late.model_copy(
        update={"since": NOW + timedelta(seconds=1)}
    )
    form = {"csrf_token": read_token(page)}
    for value in (unescape(until[1]), "yesterday"):
        await operator.http.post("/datasets/unmatched/dismiss", data={**form, "until": value})
    unmatched_page = (await operator.http.get("/datasets/unmatched")).text
    assert "2 data sets dismissed: nothing was deleted." in unmatched_page
    assert "Nothing was dismissed: load the page again." in unmatched_page
    assert set(operator.neighbours.unmatched) == {waiting["odd"]}
    later = NOW + timedelta(seconds=2)
    assert (await operator.client.dismiss_all_unmatched(until=later)).dismissed == 1


async def test_page_matches_and_dismisses_unmatched_data_sets(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    page = await operator.http.get("/datasets/unmatched")
    assert "linear</a> would take it now" in page.text
    assert "which is &#39;&lt;odd&gt;&#39;" in page.text
    assert 'href="/chains/new?dataset=odd"' in page.text
    token = read_token(page)
    await operator.http.post(
        "/datasets/unmatched/match", data={"csrf_token": token, "dataset": str(waiting["odd"])}
    )
    assert (
        "Still unmatched: no template matches."
        in (await operator.http.get("/datasets/unmatched")).text
    )
    await operator.http.post("/datasets/unmatched/match", data={"csrf_token": token, "all": "yes"})
    assert (
        "1 data set taken by a template, 2 still unmatched."
        in (await operator.http.get("/datasets/unmatched")).text
    )
    for dataset in (str(waiting["odd"]), str(waiting["odd"]), "x"):
        await operator.http.post(
            "/datasets/unmatched/dismiss", data={"csrf_token": token, "dataset": dataset}
        )
    unmatched_page = (await operator.http.get("/datasets/unmatched")).text
    assert "no longer listed" in unmatched_page
    assert "is not among the unmatched ones; to process it again, start a chain" in (unmatched_page)
    assert "Nothing was chosen." in unmatched_page
    assert set(operator.neighbours.unmatched) == {waiting["lacks"]}
    assert (
        await operator.http.post("/datasets/unmatched/match", data={"all": "yes"})
    ).status_code == 403


async def test_template_page_offers_unmatched_data_sets_but_does_not_take_them(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    page = (await operator.http.get("/templates/linear")).text
    assert "1 data set that fitted no template would be taken by it now" in page
    assert 'href="/datasets/unmatched?template=linear"' in page
    only = (await operator.http.get("/datasets/unmatched?template=linear")).text
    assert "odd" not in only
    none = (await operator.http.get("/datasets/unmatched?template=other")).text
    assert "other would take none of those that fit no template." in none
    assert "would be taken by it now" not in (await operator.http.get("/templates/other")).text
    assert "3 data sets fit no template" in (await operator.http.get("/")).text
    assert len(operator.neighbours.unmatched) == 3


async def test_absent_intake_affects_only_the_pages_of_unmatched_data_sets(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    del operator.links.apps["wfms.intake"]
    for path in (
        "/",
        "/templates/linear",
        f"/datasets/{waiting['odd']}",
        "/datasets",
        "/chains/new?dataset=odd&template=linear",
    ):
        assert (await operator.http.get(path)).status_code == 200, path
    assert "The intake does not answer" in (await operator.http.get("/")).text
    chain = await operator.client.request_chain(waiting["odd"], "linear")
    assert chain.dataset_uid == waiting["odd"]
    assert (await operator.http.get("/datasets/unmatched")).status_code in {500, 502, 503}


async def test_competing_templates_are_reported_until_one_changes(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    ids = {
        template.name: template.id
        for template in (await operator.client.list_templates()).templates
    }
    tie = Tie(
        template_id=ids["linear"],
        template="linear",
        other_id=ids["other"],
        other="other",
        priority=0,
        datasets=4,
        dataset_uid=waiting["odd"],
        dataset_name="odd",
        at=NOW,
    )
    operator.neighbours.ties += [tie, tie.model_copy(update={"other_id": uuid4(), "other": "gone"})]
    assert [competing.other for competing in (await operator.client.list_ties()).ties] == ["other"]
    assert (
        "both matched 4 data sets with priority 0"
        in (await operator.http.get("/datasets/unmatched")).text
    )
    assert "linear and other have the same priority" in (await operator.http.get("/")).text
    await operator.client.store_template(NewTemplate(name="other", cwl=OTHER + "# 2\n"))
    assert (await operator.client.list_ties()).ties == []
    assert "same priority" not in (await operator.http.get("/datasets/unmatched")).text


async def test_data_sets_are_listed_in_pages_and_shown_with_files(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    for number in range(60):
        await operator.client.register_dataset(NewDataset(name=f"many-{number:02}"))
    first = (await operator.http.get("/datasets")).text
    assert "many-59" in first
    assert "many-00" not in first
    assert "Older data sets" in first
    assert "odd" not in (await operator.http.get("/datasets?state=open")).text
    uid = waiting["odd"]
    operator.neighbours.files[uid] = [
        File(
            id=1,
            dataset_uid=uid,
            seq=0,
            name="<b>.raw",
            size=1200,
            checksum="sha256:" + "a" * 64,
            url="file:///x/b.raw",
        )
    ]
    page = (await operator.http.get(f"/datasets/{uid}")).text
    for text in (
        "&lt;b&gt;.raw",
        "1.2 kB",
        "&lt;odd&gt;",
        "It fits no template",
        "No chain has it as its input",
    ):
        assert text in page
    chain = await operator.client.request_chain(uid, "linear")
    assert f"/chains/{chain.uid}" in (await operator.http.get(f"/datasets/{uid}")).text
    assert (await operator.http.get(f"/datasets/{uuid4()}")).status_code == 404


async def test_page_and_command_show_produced_files_bytes_and_counts(
    operator: Operator, sluice: Command
) -> None:
    dataset = make_closed_dataset("result", {}).model_copy(
        update={"meta": {"produced": {"files": 1, "bytes": 1200, "events": 41}}}
    )
    operator.neighbours.datasets[dataset.uid] = dataset
    assert "1 file, 1.2 kB, 41 events" in (await operator.http.get(f"/datasets/{dataset.uid}")).text
    assert "1 file, 1.2 kB, 41 events" in await sluice("dataset", "show", str(dataset.uid))


async def test_page_and_command_show_the_files_that_a_data_set_waits_for(
    operator: Operator, sluice: Command
) -> None:
    uid = (await operator.client.register_dataset(NewDataset(name="counted"))).uid
    assert "It waits for" not in (await operator.http.get(f"/datasets/{uid}")).text
    assert "waits for" not in await sluice("dataset", "show", str(uid))
    lacking = "2 more files: 7 of 9 are registered, with numbers from 1 to 9, but no file has 3, 5"
    operator.neighbours.waits_for[uid] = lacking
    page = (await operator.http.get(f"/datasets/{uid}")).text
    assert f"It waits for {lacking}" in page
    assert f"sluice dataset close {uid} --files" in page
    assert f"it waits for {lacking}" in await sluice("dataset", "show", str(uid))
    assert f'"waits_for": "{lacking}"' in await sluice("dataset", "show", str(uid), "--json")
    assert f"counted: open, 0 files; it waits for {lacking}" in await sluice(
        "dataset", "close", str(uid), "--files", "9"
    )
    assert operator.neighbours.closings == [(uid, 9)]


async def test_data_set_shows_how_many_files_were_deleted_after_use(
    operator: Operator, sluice: Command
) -> None:
    uid = (await operator.client.register_dataset(NewDataset(name="between"))).uid
    assert "of them deleted" not in (await operator.http.get(f"/datasets/{uid}")).text
    dataset = operator.neighbours.datasets[uid]
    operator.neighbours.datasets[uid] = dataset.model_copy(
        update={"count_files": 1200, "released": 1100}
    )
    page = (await operator.http.get(f"/datasets/{uid}")).text
    assert "1\u202f100 of them deleted: all steps are done with them" in page
    output = await sluice("dataset", "show", str(uid))
    assert "1100 of them are deleted: all steps are done with them" in output
    assert '"released": 1100' in await sluice("dataset", "show", str(uid), "--json")
    assert "(1\u202f100 deleted)" in (await operator.http.get("/datasets")).text
    assert "1200 (1100 deleted)" in await sluice("dataset", "list")


async def test_page_starts_a_chain_with_its_parameters(
    operator: Operator, waiting: dict[str, UUID]
) -> None:
    empty = (await operator.http.get("/chains/new")).text
    assert "linear, version 1" in empty
    assert "Start the chain" not in empty
    assert (
        "There is no data set &#39;nothing&#39;"
        in (await operator.http.get("/chains/new?dataset=nothing&template=linear")).text
    )
    page = await operator.http.get("/chains/new?dataset=odd&template=linear")
    assert "it wants type = &#39;raw&#39;, which is &#39;&lt;odd&gt;&#39;" in page.text
    assert 'placeholder="5"' in page.text
    form = {"csrf_token": read_token(page), "dataset": str(waiting["odd"]), "template": "linear"}
    invalid_response = await operator.http.post(
        "/chains/new", data=form | {"param-limit": "few", "param-note": "<i>"}
    )
    assert invalid_response.status_code == 422
    assert "Must be a whole number, not &#39;few&#39;" in invalid_response.text
    assert 'value="&lt;i&gt;"' in invalid_response.text, "the form keeps the typed value"
    assert operator.neighbours.requested == []
    started = await operator.http.post(
        "/chains/new", data=form | {"param-limit": "7", "param-note": ""}
    )
    (requested,) = operator.neighbours.requested
    assert requested.params == {"limit": 7}
    assert started.status_code == 303
    assert "The chain is started." in (await operator.http.get(started.headers["location"])).text
    assert (
        "There is a chain of both already"
        in (await operator.http.get("/chains/new?dataset=odd&template=linear")).text
    )
    not_found = await operator.http.post("/chains/new", data=form | {"template": "none"})
    assert not_found.status_code == 422


async def test_requirements_of_a_template_are_shown_with_actual_values(
    operator: Operator, sluice: Command, waiting: dict[str, UUID]
) -> None:
    text = edit_text(
        (
            "inputs:\n",
            "sluice:require: {files: {minimum: 10}, parameters: {limit: {maximum: 9}}}\ninputs:\n",
        )
    )
    await operator.client.store_template(NewTemplate(name="linear", cwl=text))
    requirement = "requires files from 10 to ∞, which is 1"
    assert f"linear: matches, but {requirement}" in await sluice("dataset", "unmatched")
    for path in ("/datasets/unmatched", f"/datasets/{waiting['fits']}"):
        assert f"matches, but {requirement}" in (await operator.http.get(path)).text, path
    assert (
        f"the template {requirement}"
        in (await operator.http.get("/chains/new?dataset=fits&template=linear")).text
    )
    assert "<b>files</b> is at least 10" in (await operator.http.get("/templates/linear")).text
    assert "parameter limit is at most 9" in await sluice("template", "show", "linear")
    refused = await sluice("chain", "start", "fits", "linear", "--param", "limit=11", code=1)
    assert requirement in refused
    assert "requires parameter limit from -∞ to 9, which is 11" in refused
    assert operator.neighbours.requested == [], "the chain service gets no request"


async def test_commands_list_match_and_dismiss_unmatched_data_sets(
    operator: Operator, sluice: Command, waiting: dict[str, UUID]
) -> None:
    listed = await sluice("dataset", "unmatched")
    assert f"{waiting['fits']}  fits  since" in listed
    assert "linear: would take it now" in listed
    assert "other: wants type = 'calibration', which is '<odd>'" in listed
    only = await sluice("dataset", "unmatched", "--template", "linear")
    assert "odd" not in only
    assert '"total": 3' in await sluice("dataset", "unmatched", "--json")
    assert "no template matches" in await sluice("dataset", "match", str(waiting["odd"]), code=1)
    again = await sluice("dataset", "match", "--all")
    assert "1 taken by a template, 2 still unmatched" in again
    await sluice("dataset", "match", code=2)
    assert "no longer listed as unmatched" in await sluice(
        "dataset", "dismiss", str(waiting["odd"])
    )


async def test_period_and_run_of_a_data_set_are_shown(operator: Operator, sluice: Command) -> None:
    spare = await operator.client.register_dataset(NewDataset(name="spare", meta={"kind": "raw"}))
    operator.neighbours.datasets[spare.uid] = spare.model_copy(update={"period": "may", "run": 0})
    assert "  period: may\n  run: 0\n  kind: raw\n" in await sluice("dataset", "show", "spare")
