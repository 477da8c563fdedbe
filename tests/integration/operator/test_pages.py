"""Web pages without a browser: forms and their protection, escaping, headers."""

import re
from enum import StrEnum

import httpx
import pytest

from sluice.contracts.chains.chains import ChainListState
from sluice.contracts.common.states import (
    ChainState,
    DatasetState,
    DatasetType,
    JobState,
    StepState,
    TaskState,
)
from sluice.contracts.jobs.tasks import BY_REQUEST, JobOrder
from tests.callers import allow_everybody
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.scene import Counts, Scene
from tests.unit.cwl.samples import GRAPH


async def test_pages_send_security_headers_and_load_nothing_from_other_hosts(
    operator: Operator, scene: Scene
) -> None:
    chains, tasks = list(operator.neighbours.chains), list(operator.neighbours.tasks)
    pages = ["/", "/templates", "/templates/spd", "/chains"]
    pages += [
        "/chains?state=failed",
        "/tasks",
        "/tasks?state=failed",
        "/jobs/1",
    ]
    pages += [
        "/queues",
        "/queues/wms.tasks",
        "/datasets",
        "/datasets/unmatched",
        "/chains/new",
        "/chains/new?template=spd",
    ]
    pages += [f"/datasets/{uid}" for uid in operator.neighbours.datasets]
    pages += [f"/chains/{uid}" for uid in chains] + [f"/tasks/{uid}" for uid in tasks]
    for path in pages:
        page = await operator.http.get(path)
        assert page.status_code == 200, path
        assert "default-src 'self'" in page.headers["content-security-policy"]
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cache-control"] == "no-store"
        loaded = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"', page.text)
        assert loaded
        assert all(address.startswith("/static/") for address in loaded)
        assert "style=" not in page.text, "the content security policy refuses it"
        assert not re.search(r"<script(?![^>]*src=)", page.text)
        for live in re.findall(r'data-live="([^"]+)"', page.text):
            parts = (await operator.http.get(live.replace("&amp;", "&"))).json()["parts"]
            for part, html in parts.items():
                assert f'id="{part}"' in page.text
                assert "</body>" not in html


async def test_data_of_an_ended_chain_is_deleted_on_request(
    operator: Operator, scene: Scene
) -> None:
    over = next(
        chain for chain in operator.neighbours.chains.values() if chain.state is ChainState.FAILED
    )
    running = next(
        chain
        for chain in operator.neighbours.chains.values()
        if chain.state is ChainState.IN_PROGRESS
    )
    assert 'id="discard"' not in (await operator.http.get(f"/chains/{running.uid}")).text
    page = await operator.http.get(f"/chains/{over.uid}")
    assert 'id="discard"' in page.text
    refused = await operator.http.post(f"/chains/{over.uid}/discard")
    assert (refused.status_code, operator.neighbours.discarded) == (403, [])
    answer = await operator.http.post(
        f"/chains/{over.uid}/discard", data={"csrf_token": read_token(page)}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"/chains/{over.uid}")
    assert operator.neighbours.discarded == [over.uid]
    after = (await operator.http.get(f"/chains/{over.uid}")).text
    assert "The data of this chain is deleted" in after
    assert 'id="discard"' not in after


async def test_form_without_the_token_of_the_session_changes_nothing(
    operator: Operator, scene: Scene, spd_text: str
) -> None:
    running = next(
        chain
        for chain in operator.neighbours.chains.values()
        if chain.state is ChainState.IN_PROGRESS
    )
    page = await operator.http.get(f"/chains/{running.uid}")
    token = read_token(page)
    address = f"/chains/{running.uid}/cancel"
    other = httpx.AsyncClient(
        transport=httpx.ASGITransport(allow_everybody(operator.service.app)),
        base_url="http://operator.test",
    )
    async with other:
        refused = [
            await operator.http.post(address),
            await operator.http.post(address, data={"csrf_token": token[:-2] + "xx"}),
            await other.post(address, data={"csrf_token": token}),
            await operator.http.post("/templates", data={"name": "new", "cwl": spd_text}),
        ]
    assert [answer.status_code for answer in refused] == [403] * 4
    assert all("<h1>" in answer.text for answer in refused)
    assert operator.neighbours.chains[running.uid].state is ChainState.IN_PROGRESS
    accepted = await operator.http.post(address, data={"csrf_token": token})
    assert (accepted.status_code, accepted.headers["location"]) == (303, f"/chains/{running.uid}")
    canceled = operator.neighbours.chains[running.uid]
    assert (canceled.state, canceled.reason) == (ChainState.IN_PROGRESS, BY_REQUEST.reason)


async def test_session_cookie_is_closed_to_scripts_and_other_sites(operator: Operator) -> None:
    cookie = (await operator.http.get("/templates")).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


async def test_template_is_uploaded_with_the_form(operator: Operator, spd_text: str) -> None:
    token = read_token(await operator.http.get("/templates"))
    typed = spd_text.replace("\n", "\r\n")  # Browsers send text areas with these line ends.
    sent = await operator.http.post(
        "/templates", data={"csrf_token": token, "name": "spd", "cwl": typed}
    )
    stored = await operator.http.post(
        sent.headers["location"], data={"csrf_token": token, "replaces": "0"}
    )
    assert (stored.status_code, stored.headers["location"]) == (303, "/templates/spd")
    assert (await operator.client.get_template("spd")).cwl == spd_text
    page = await operator.http.get("/templates/spd")
    assert "Published as version 1." in page.text
    file = {"file": ("spd.cwl", spd_text.encode(), "application/octet-stream")}
    await operator.http.post(
        "/templates", data={"csrf_token": token, "name": "", "cwl": ""}, files=file
    )
    assert "nothing was changed" in (await operator.http.get("/templates/spd")).text


async def test_refused_upload_shows_findings_and_keeps_the_typed_values(
    operator: Operator, spd_text: str
) -> None:
    bad = (
        spd_text.replace("scatter: hits", "scatter: hitz", 1)
        + "# </textarea><script>alert(1)</script>\n"
    )
    token = read_token(await operator.http.get("/templates"))
    page = await operator.http.post(
        "/templates", data={"csrf_token": token, "name": "my-name", "cwl": bad}
    )
    assert page.status_code == 422
    line = next(number for number, text in enumerate(bad.splitlines(), 1) if "hitz" in text)
    assert f'href="#L{line}"' in page.text
    assert re.search(rf'id="L{line}".*?</div>\s*<p class="finding error">', page.text, re.DOTALL)
    assert 'value="my-name"' in page.text
    assert "<script>alert" not in page.text
    assert "&lt;/textarea&gt;&lt;script&gt;alert(1)" in page.text
    assert (await operator.client.list_templates()).templates == []


async def test_empty_form_and_oversized_file_are_answered_with_a_page(
    operator: Operator,
) -> None:
    token = read_token(await operator.http.get("/templates"))
    empty = await operator.http.post(
        "/templates", data={"csrf_token": token, "name": "x", "cwl": " "}
    )
    assert empty.status_code == 422
    assert "choose a file or paste a workflow" in empty.text
    large = {"file": ("big.cwl", b"x" * 5_000_000)}
    answer = await operator.http.post(
        "/templates", data={"csrf_token": token, "name": "x"}, files=large
    )
    assert answer.status_code == 413
    assert "2 MiB" in answer.text


async def test_template_in_use_is_deleted_only_after_confirmation(
    operator: Operator, scene: Scene
) -> None:
    token = read_token(await operator.http.get("/templates/spd"))
    refusal = await operator.http.post("/templates/spd/delete", data={"csrf_token": token})
    assert refusal.status_code == 409
    assert "3 chains of template" in refusal.text
    sure = await operator.http.post(
        "/templates/spd/delete", data={"csrf_token": token, "force": "yes"}
    )
    assert sure.status_code == 303
    assert (await operator.client.list_templates()).templates == []
    assert (await operator.http.get("/templates/spd")).status_code == 404
    running = next(iter(operator.neighbours.chains))
    assert "filter_events" in (await operator.http.get(f"/chains/{running}")).text, (
        "the chain page still shows the steps"
    )


async def test_page_ranks_retries_and_cancels_a_task(operator: Operator, scene: Scene) -> None:
    task = next(status.uid for status in operator.neighbours.tasks.values() if status.quarantined)
    token = read_token(await operator.http.get(f"/tasks/{task}"))
    for rank, expected in (("12.5", 12.5), ("high", 12.5), ("-1", 12.5), ("inf", 12.5)):
        await operator.http.post(f"/tasks/{task}/rank", data={"csrf_token": token, "rank": rank})
        assert operator.neighbours.tasks[task].rank == expected
    await operator.http.post(f"/tasks/{task}/retry", data={"csrf_token": token})
    assert operator.neighbours.tasks[task].failed == 0
    await operator.http.post(f"/tasks/{task}/cancel", data={"csrf_token": token})
    page = await operator.http.get(f"/tasks/{task}")
    assert "is being canceled" in page.text
    assert operator.neighbours.tasks[task].state is TaskState.CANCELED


async def test_unknown_address_is_answered_with_a_page_or_a_problem(
    operator: Operator,
) -> None:
    page = await operator.http.get("/nowhere")
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    problem = await operator.http.get("/api/v1/nowhere")
    assert problem.headers["content-type"] == "application/problem+json"
    assert "nothing is served at /nowhere" in page.text
    assert "nothing is served at /api/v1/nowhere" in problem.json()["detail"]
    assert (await operator.http.post("/chains")).status_code == 405


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/api/v1/templates", "GET, HEAD, OPTIONS, POST"),
        ("POST", "/api/v1/datasets/00000000-0000-0000-0000-000000000001/archive", "GET"),
    ],
)
async def test_wrong_method_is_answered_with_the_allowed_methods(
    operator: Operator, method: str, path: str, allowed: str
) -> None:
    """Both frameworks answer alike."""
    answer = await operator.http.request(method, path)
    assert (answer.status_code, answer.json()["type"]) == (405, "urn:sluice:problem:wrong-method")
    assert f"{method} is not possible at {path}: use {allowed} (" in answer.json()["detail"]
    assert {method.strip() for method in answer.headers["allow"].split(",")} == set(
        allowed.split(", ")
    )


async def test_empty_system_tells_how_to_begin(operator: Operator) -> None:
    assert "sluice run workflow.cwl" in (await operator.http.get("/")).text
    assert "sluice template publish" in (await operator.http.get("/templates")).text
    assert "No chain yet" in (await operator.http.get("/chains")).text
    assert "No task yet" in (await operator.http.get("/tasks")).text


async def test_stopped_service_answers_503(operator: Operator) -> None:
    await operator.service.stop()
    assert (await operator.http.get("/api/v1/templates")).status_code == 503
    assert (await operator.http.get("/")).status_code == 503


async def test_template_page_shows_all_inputs_of_a_step(operator: Operator) -> None:
    await operator.http.post("/api/v1/templates", json={"name": "graph", "cwl": GRAPH})
    page = (await operator.http.get("/templates/graph")).text
    assert "<code>texts</code>, <code>total/sum</code>, <code>upper/big</code>" in page


async def test_jobs_of_a_task_are_filtered_sorted_and_paged(
    operator: Operator, scene: Scene
) -> None:
    task = next(status for status in operator.neighbours.tasks.values() if status.quarantined)
    address = f"/tasks/{task.uid}"
    page = (await operator.http.get(address)).text
    for count, state in ((80, "all"), (12, "finished"), (1, "failed"), (1, "quarantined")):
        assert re.search(rf'>{state} <span class="count">{count}</span></a>', page), state
    assert re.search(r"\b(1[2-9]|[2-5]\d) s\b", page), "12 s and the duration of the test"
    for shown in (
        "farm-07",
        "so far",
        "180 MiB",
        '<td data-label="Exit code" class="figure">65</td>',
        "frame-0017.raw",
    ):
        assert shown in page
    quarantined_page = (await operator.http.get(f"{address}?state=quarantined")).text
    assert "five pilots in a row died with it" in quarantined_page
    assert "frame-0017.raw" not in quarantined_page
    assert "No job is leased" in (await operator.http.get(f"{address}?state=leased")).text
    longest = (await operator.http.get(f"{address}?sort=time")).text
    assert "of those that have ended" in longest
    assert "longest first" not in (await operator.http.get(f"{address}?state=running")).text
    large = next(
        status
        for status in operator.neighbours.tasks.values()
        if status.finished == 59 and status.failed
    )
    job_ids: list[str] = []
    following: str | None = f"/tasks/{large.uid}"
    while following is not None:
        text = (await operator.http.get(following)).text
        job_ids += re.findall(r'href="/jobs/(\d+)"', text)
        match = re.search(rf'href="(/tasks/{large.uid}\?after=[^"#]+)#jobs-title">Next jobs', text)
        following = match[1] if match else None
    assert len(job_ids) == len(set(job_ids)) == 60


UNKNOWN_VALUES: list[tuple[str, str, type[StrEnum] | None]] = [
    ("/chains?state=bogus", "state", ChainListState),
    ("/chains/live?state=bogus", "state", ChainListState),
    ("/tasks?state=bogus", "state", StepState),
    ("/tasks/{task}?state=bogus", "state", JobState),
    ("/tasks/{task}?sort=bogus", "sort", JobOrder),
    ("/datasets?state=bogus", "state", DatasetState),
    ("/datasets?type=bogus", "type", DatasetType),
    ("/templates/spd?version=bogus", "version", None),
    ("/templates/spd/files?version=bogus", "version", None),
    ("/jobs/1?attempt=bogus", "attempt", None),
]


async def test_unknown_query_value_is_refused_with_the_known_values(
    operator: Operator, scene: Scene, subtests: pytest.Subtests
) -> None:
    """Without the refusal a person would take the full list for the filtered result."""
    task = next(iter(operator.neighbours.tasks))
    for path, key, choices in UNKNOWN_VALUES:
        with subtests.test(path=path):
            page = await operator.http.get(path.format(task=task))
            expected = "a number" if choices is None else f"one of {', '.join(choices)}"
            assert page.status_code == 422
            sentence = f"{key} must be {expected} or be left out of the address, not &#39;bogus"
            assert sentence in page.text
            left_empty = await operator.http.get(path.format(task=task).replace("bogus", ""))
            assert left_empty.status_code == 200


async def test_task_page_is_shown_without_the_wms(operator: Operator, scene: Scene) -> None:
    task = next(iter(operator.neighbours.tasks))

    async def broken(scope: object, receive: object, send: object) -> None:
        raise OSError("the disk is gone")

    operator.links.apps["wms"] = broken
    page = await operator.http.get(f"/tasks/{task}")
    assert (page.status_code, "Not known now: the WMS does not answer" in page.text) == (200, True)


async def test_finished_chain_without_a_successful_job_is_shown_as_incomplete(
    operator: Operator, scene: Scene
) -> None:
    """A ``cwl-runner`` run with failed jobs ends like this, as its template lacks no output."""
    ran = scene.chain("run-0001", 3, [Counts(failed=2, total=2)], ChainState.FINISHED)
    pages = ["/", "/chains", f"/chains/{ran.uid}", f"/datasets/{ran.dataset_uid}", "/tasks"]
    pages.append(f"/tasks/{ran.steps[0].task_uid}")
    markup = '<span class="state {}">incomplete</span> <span class="muted note">{}</span>'
    for path in pages:
        assert (
            markup.format("void", "2 jobs failed, none finished")
            in (await operator.http.get(path)).text
        ), path
    assert markup.format("short", "1 job failed") in (await operator.http.get("/")).text, (
        "some of its jobs succeeded"
    )
