"""Human tasks on pages, by REST and by commands, with the real ask service behind the operator."""

import html
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sluice.clients.operator import HumanStepKey
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import BrowserState
from sluice.contracts.human_tasks.supervision import NewLink, SetBrowserState
from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.callers import allow_everybody
from tests.conftest import DatabaseFactory
from tests.integration.ask.conftest import GROUP, STEP, TEMPLATE, HumanTasks, run_human_tasks
from tests.integration.operator.conftest import Operator, run_operator
from tests.integration.operator.sluice_command import Command

STEP_KEY = HumanStepKey(GROUP, TEMPLATE, STEP)
PAGE = "/asking/everyone/mass%20times/look"
ITEMS = [b"Sunday 9:00", b"Office: 8:00", b"Vespers 18:00"]


@dataclass
class Watched:
    operator: Operator
    human_tasks: HumanTasks

    async def post(self, path: str, **form: str) -> str:
        """Post a form and return the page that follows."""
        token = re.search(r'name="csrf_token" value="([^"]+)"', await self.page(PAGE))
        assert token is not None
        data = {"csrf_token": token[1], **form}
        answer = await self.operator.http.post(path, data=data, follow_redirects=True)
        return html.unescape(answer.text)

    async def page(self, path: str) -> str:
        answer = await self.operator.http.get(path)
        assert answer.is_success, answer.text
        return html.unescape(answer.text)


@pytest.fixture
async def watched(
    database_url: str, make_database: DatabaseFactory, tmp_path: Path
) -> AsyncIterator[Watched]:
    """Return a step with three items that have no annotations yet."""
    async with run_watched_service(
        database_url, await make_database("wfms.ask.db.migrations"), tmp_path
    ) as watched:
        yield watched


@asynccontextmanager
async def run_watched_service(
    database_url: str, human_tasks_url: str, folder: Path, address: str = "http://ask.test"
) -> AsyncIterator[Watched]:
    async with (
        run_human_tasks(human_tasks_url, folder, address=address) as human_tasks,
        run_operator(database_url) as operator,
    ):
        operator.links.apps["wfms.ask"] = human_tasks.app
        human_tasks.task(ITEMS, agree=1)
        await human_tasks.import_items()
        yield Watched(operator, human_tasks)


@pytest.fixture
async def sluice(watched: Watched) -> AsyncIterator[Command]:
    server = HttpServer(allow_everybody(watched.operator.service.app), host="127.0.0.1", port=0)
    async with running(server):
        yield Command(f"http://127.0.0.1:{server.port}")


async def test_requests_about_human_tasks_are_forwarded_to_the_ask_service(
    watched: Watched,
) -> None:
    client = watched.operator.client
    link = await client.create_ask_link(*STEP_KEY, NewLink(days=3))
    assert link.url is not None
    browser = await watched.human_tasks.browser(link.url.rpartition("key=")[2])
    await browser.answer_all("yes")
    [step] = (await client.list_human_steps()).steps
    assert (step.waiting, step.decided, step.delivered, step.answer_count) == (0, 3, 0, 3)
    [listed] = (await client.list_ask_browsers(*STEP_KEY)).browsers
    reason = SetBrowserState(state=BrowserState.EXCLUDED, reason="all alike")
    excluded = await client.set_browser_state(listed.uid, reason)
    assert (excluded.state, excluded.reason) == (BrowserState.EXCLUDED, "all alike")
    with pytest.raises(Conflict):
        await client.set_browser_state(listed.uid, reason)
    [step] = (await client.list_human_steps()).steps
    assert (step.waiting, step.excluded) == (3, 1)
    async with client.stream_answers(STEP_KEY) as answers:
        lines = [json.loads(line) async for line in answers.aiter_lines()]
    assert [(line["item"], line["answer"], line["counted"]) for line in lines] == [
        (f"{seq}.txt", "yes", False) for seq in range(3)
    ]
    await client.end_ask_link(link.uid)
    [ended] = (await client.list_ask_links(*STEP_KEY)).links
    assert (ended.uid, ended.url, ended.ended_at is None) == (link.uid, None, False)
    with pytest.raises(NotFound):
        await client.end_ask_link(listed.uid)


async def test_page_creates_and_ends_an_answer_link(watched: Watched) -> None:
    assert PAGE in await watched.page("/asking")
    assert 'href="/asking"' in await watched.page("/steps")
    page = await watched.page(PAGE)
    assert "Is it a mass?" in page
    assert "0 of 3 items delivered, 0 decided, 3 waiting" in page
    link_page = await watched.post(f"{PAGE}/links", days="7")
    address = re.findall(r'<input id="address" value="([^"]+)"', link_page)
    assert [each.partition("?key=")[0] for each in address] == [
        "http://ask.test/ask/mass%20times/look"
    ]
    assert "Whoever has it may answer" in link_page
    assert address[0] not in await watched.page(PAGE), "the address is shown only once"
    [end] = re.findall(r'action="([^"]+/end)"', await watched.page(PAGE))
    assert "The link is closed." in await watched.post(end)
    assert "1 link ended" in await watched.page(PAGE)
    assert "Nothing was changed: this link has ended already." in await watched.post(end)
    assert "30 days at most" in await watched.post(f"{PAGE}/links", days="31")
    assert "days: " in await watched.post(f"{PAGE}/links", days="many")


async def test_personal_link_attributes_annotations_to_its_creator(watched: Watched) -> None:
    link_page = await watched.post(f"{PAGE}/links", mine="yes")
    assert "noted as yours" in link_page
    [key] = re.findall(r'<input id="address" value="[^"]+key=([^"]+)"', link_page)
    await (await watched.human_tasks.browser(key)).answer_all("no", most=1)
    [browser] = (await watched.operator.client.list_ask_browsers(*STEP_KEY)).browsers
    assert browser.person is not None
    page = await watched.page(PAGE)
    assert browser.person in page
    [end] = re.findall(r'action="([^"]+/end)"', page)
    assert "The link is closed." in await watched.post(end)


async def test_page_excludes_a_browser_and_counts_its_annotations_again(watched: Watched) -> None:
    await (await watched.human_tasks.browser()).answer_all("no")
    [state] = re.findall(r'action="([^"]+/state)"', await watched.page(PAGE))
    form = {"state": BrowserState.EXCLUDED, "reason": "never looked"}
    assert "no longer count." in await watched.post(state, **form)
    page = await watched.page(PAGE)
    assert "never looked" in page
    assert "Count again" in page
    assert "0 of 3 items delivered, 0 decided, 3 waiting" in page
    assert "Nothing was changed: browser" in await watched.post(state, **form)
    assert "Nothing was changed: state: " in await watched.post(state, state="good")
    counted_page = await watched.post(state, state=BrowserState.COUNTED)
    assert re.search(r"Answers of browser \w{8} count\.", counted_page)
    live = (await watched.operator.http.get(f"{PAGE}/live")).json()["parts"]
    assert "3 decided" in live["progress"]
    assert "Exclude" in live["browsers"]


async def test_template_for_signed_in_people_offers_no_link(
    watched: Watched,
) -> None:
    watched.human_tasks.rows.tasks.clear()
    watched.human_tasks.rows.jobs.clear()
    watched.human_tasks.task(ITEMS, link=None)
    await watched.human_tasks.import_items()
    page = await watched.page(PAGE)
    assert "Nobody else may" in page
    assert 'id="days"' not in page
    assert 'id="answer"' in page
    assert "for people who are signed in" in await watched.post(f"{PAGE}/links", days="1")


async def test_links_use_the_address_of_the_pages_if_the_ask_service_has_none(
    database_url: str, make_database: DatabaseFactory, tmp_path: Path
) -> None:
    own = "operator.test/ask/mass%20times/look?key="
    async with run_watched_service(
        database_url, await make_database("wfms.ask.db.migrations"), tmp_path, address=""
    ) as watched:
        assert f'value="http://{own}' in await watched.post(f"{PAGE}/links", days="1")
        server = HttpServer(allow_everybody(watched.operator.service.app), host="127.0.0.1", port=0)
        async with running(server):
            url = f"http://127.0.0.1:{server.port}"
            output = await Command(url)("ask", "link", TEMPLATE, STEP)
            assert output.startswith(f"{url}/ask/mass%20times/look?key=")


async def test_step_without_human_tasks_has_no_page(watched: Watched) -> None:
    answer = await watched.operator.http.get("/asking/everyone/mass%20times/other")
    assert answer.status_code == 404
    assert "template mass times of the group everyone has no human task other" in answer.text


async def test_commands_manage_links_browsers_and_annotations(
    watched: Watched, sluice: Command
) -> None:
    listed = (await sluice("ask", "list")).splitlines()[1].split()
    assert listed == ["mass", "times", "look", "everyone", "3", "0", "0", "0", "0", "0.0", "0", "0"]
    address = (await sluice("ask", "link", TEMPLATE, STEP, "--days", "2")).strip()
    assert address.startswith("http://ask.test/ask/mass%20times/look?key=")
    await (await watched.human_tasks.browser(address.rpartition("key=")[2])).answer_all("yes")
    [browser] = json.loads(await sluice("ask", "browsers", TEMPLATE, STEP, "--json"))
    assert (browser["answer_count"], browser["state"]) == (3, BrowserState.COUNTED)
    short = browser["uid"][:8]
    assert f"{short}" in await sluice("ask", "browsers", TEMPLATE, STEP)
    output = await sluice("ask", "exclude", short, "--yes", "--reason", "too quick")
    assert output == f"answers of browser {short} (3) no longer count\n"
    assert "too quick" in await sluice("ask", "browsers", TEMPLATE, STEP)
    assert "(3) count\n" in await sluice("ask", "admit", browser["uid"])
    lines = (await sluice("ask", "export", TEMPLATE, STEP)).splitlines()
    assert [json.loads(line)["answer"] for line in lines] == ["yes"] * 3
    [link] = json.loads(await sluice("ask", "links", TEMPLATE, STEP, "--json"))
    assert link["url"] is None
    assert "is closed\n" in await sluice("ask", "end", link["uid"][:8], "--yes")
    assert "ended" in (await sluice("ask", "links", TEMPLATE, STEP)).splitlines()[1].split()
    assert json.loads(await sluice("ask", "list", "--json"))["steps"][0]["answer_count"] == 3


async def test_command_explains_how_to_start_a_step_that_asked_nothing_yet(
    watched: Watched, sluice: Command
) -> None:
    pack = Path(__file__).parents[4] / "templates" / "masstimes"
    cwl = (pack / "annotate.cwl").read_text()
    await watched.operator.client.store_template(NewTemplate(name="annotate", cwl=cwl))
    message = " ".join((await sluice("ask", "link", "annotate", "ask", code=1)).split())
    assert "no chain has asked anything by step 'ask' of template 'annotate' yet" in message
    assert "sluice chain start DATASET annotate begins one now" in message
    message = " ".join((await sluice("ask", "link", "annotate", "other", code=1)).split())
    assert "no step 'other' of template 'annotate' asks people" in message
    shown = await sluice("template", "show", "annotate")
    assert "gold: File  (asset:mt-gold, if no other is given)" in shown


async def test_commands_name_steps_browsers_and_links_that_they_do_not_find(
    watched: Watched, sluice: Command
) -> None:
    message = " ".join((await sluice("ask", "link", TEMPLATE, "other", code=1)).split())
    assert (
        f"no step 'other' of template '{TEMPLATE}' asks people; those that do: {TEMPLATE} {STEP}"
        in message
    )
    message = " ".join(
        (await sluice("ask", "links", TEMPLATE, STEP, "--group", "x", code=1)).split()
    )
    assert "of group x asks people" in message
    assert "no browser 'abcd'" in await sluice("ask", "exclude", "abcd", code=1)
    assert "no link 'abcd'" in await sluice("ask", "end", "abcd", code=1)
    assert "30 days at most" in await sluice("ask", "link", TEMPLATE, STEP, "--days", "31", code=1)
