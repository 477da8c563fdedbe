"""Only a browser with a valid link may answer, and only items that it was shown."""

import asyncio
import base64
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from sluice.contracts.common.problems import Conflict
from sluice.contracts.human_tasks.annotation import AnnotatorAnswer
from tests.callers import allow_everybody
from tests.conftest import DatabaseFactory
from tests.integration.ask.conftest import HumanTasks, run_human_tasks
from wfms.ask.api.annotation import cookie_name
from wfms.ask.api.browser_rate import BrowserRate, RequestRateExceeded
from wfms.ask.db.links import HumanStepPlace
from wfms.ask.domain.errors import LinkExpired
from wfms.ask.usecases.admit_browser import Admission, BrowserOrigin, admit_browser
from wfms.ask.usecases.end_link import end_link
from wfms.ask.usecases.list_links import list_links

SEE_OTHER = httpx.codes.SEE_OTHER
PAGE = "/ask/mass%20times/look"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_browser_without_a_link_gets_nothing(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    cookies = dict(browser.http.cookies)
    browser.http.cookies.clear()
    for what in ("next", "undo"):
        assert (await browser.post(what, {})).status_code == httpx.codes.UNAUTHORIZED
    assert (await browser.http.get(f"{PAGE}/about")).status_code == httpx.codes.UNAUTHORIZED
    for name in cookies:
        browser.http.cookies.set(name, "guessed", path=PAGE)
    assert (await browser.post("next", {})).status_code == httpx.codes.UNAUTHORIZED


async def test_cookie_of_one_step_is_refused_by_another(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [token] = dict(browser.http.cookies).values()
    browser.http.cookies.set(cookie_name("mass times", "other"), token)
    answer = await browser.http.get("/ask/mass%20times/other/about")
    assert answer.status_code == httpx.codes.UNAUTHORIZED


async def test_ended_link_admits_no_browser(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    key = await human_tasks.key()
    browser = await human_tasks.browser(key)
    assert len((await browser.next()).items) == 1
    [link] = await list_links(human_tasks.context, HumanStepPlace("mass times", "look", "everyone"))
    await end_link(human_tasks.context, link.uid)
    assert (await browser.post("next", {})).status_code == httpx.codes.GONE
    with pytest.raises(LinkExpired):
        await admit_browser(human_tasks.context, key, earlier_token=None, origin=BrowserOrigin())


async def test_link_expires(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    await human_tasks.rows_of("UPDATE links SET expires_at = now() RETURNING 1")
    assert (await browser.post("next", {})).status_code == httpx.codes.GONE


async def test_link_of_one_group_shows_no_items_of_another(human_tasks: HumanTasks) -> None:
    mine, hers = human_tasks.task([b"mine"]), human_tasks.task([b"hers"])
    human_tasks.rows.tasks[hers] = human_tasks.rows.tasks[hers].model_copy(update={"group": "beta"})
    await human_tasks.import_items()
    assert mine in human_tasks.rows.tasks
    page_items = await (await human_tasks.browser()).next(count=5)
    assert [item.text for item in page_items.items] == ["mine"]


async def test_link_of_another_group_gives_a_browser_a_new_session(human_tasks: HumanTasks) -> None:
    """The session of the first group shows nothing of the second, and ends with its own link."""
    human_tasks.task([b"mine"])
    hers = human_tasks.task([b"hers"])
    human_tasks.rows.tasks[hers] = human_tasks.rows.tasks[hers].model_copy(update={"group": "beta"})
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    [(name, old)] = dict(browser.http.cookies).items()
    await browser.http.get(PAGE, params={"key": await human_tasks.key(group="beta")})
    assert dict(browser.http.cookies)[name] != old
    assert [item.text for item in (await browser.next(count=5)).items] == ["hers"]
    browser.http.cookies.clear()
    browser.http.cookies.set(name, old)
    assert [item.text for item in (await browser.next(count=5)).items] == ["mine"]
    [link] = await list_links(human_tasks.context, HumanStepPlace("mass times", "look", "everyone"))
    await end_link(human_tasks.context, link.uid)
    assert (await browser.post("next", {})).status_code == httpx.codes.GONE


async def test_personal_link_admits_one_browser(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    key = await human_tasks.key(mine=True)
    browser = await human_tasks.browser(key)
    assert (await browser.http.get(PAGE, params={"key": key})).status_code == SEE_OTHER
    with pytest.raises(LinkExpired, match="was for one browser"):
        await admit_browser(human_tasks.context, key, earlier_token=None, origin=BrowserOrigin())
    assert len((await browser.next()).items) == 1
    [link] = await list_links(human_tasks.context, HumanStepPlace("mass times", "look", "everyone"))
    assert link.person == "ada"


async def test_personal_link_admits_one_of_two_concurrent_browsers(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    key = await human_tasks.key(mine=True)
    place = HumanStepPlace("mass times", "look", "everyone")
    await asyncio.gather(
        *(list_links(human_tasks.context, place) for _ in range(2))
    )  # The database has two connections.
    both = (
        admit_browser(human_tasks.context, key, earlier_token=None, origin=BrowserOrigin())
        for _ in range(2)
    )
    came = await asyncio.gather(*both, return_exceptions=True)
    assert {type(one) for one in came} == {Admission, LinkExpired}


async def test_new_personal_link_ends_the_previous_one(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    first, second = await human_tasks.key(mine=True), await human_tasks.key(mine=True)
    browser = await human_tasks.browser(first)
    assert (await browser.http.get(PAGE, params={"key": second})).status_code == SEE_OTHER
    assert len((await browser.next()).items) == 1
    assert await human_tasks.rows_of("SELECT count(*) FROM browsers") == [(1,)]
    for key in (first, second):
        with pytest.raises(LinkExpired):
            await admit_browser(
                human_tasks.context, key, earlier_token=None, origin=BrowserOrigin()
            )


async def test_personal_link_is_valid_for_a_day_at_most(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    with pytest.raises(Conflict, match="for oneself opens it for a day at most"):
        await human_tasks.key(mine=True, days=2)


@pytest.mark.parametrize(("before", "after"), [("ada", "bob"), (None, "ada"), ("ada", None)])
async def test_link_of_another_person_gives_a_browser_a_new_session(
    human_tasks: HumanTasks, before: str | None, after: str | None
) -> None:
    """Annotations are attributed to the right person."""
    human_tasks.task([b"1", b"2"], agree=1)
    await human_tasks.import_items()
    browser = await human_tasks.browser(
        await human_tasks.key(mine=before is not None, by=before or "eve")
    )
    [item] = (await browser.next(count=1)).items
    await browser.next(AnnotatorAnswer(item=item.id, answer="yes"), count=0)
    key = await human_tasks.key(mine=after is not None, by=after or "eve")
    await browser.http.get(PAGE, params={"key": key})
    assert await browser.answer_all("no") == 1
    statement = "SELECT person, answer FROM assignments JOIN browsers ON browsers.uid = browser_uid"
    assert {*await human_tasks.rows_of(statement)} == {(before, "yes"), (after, "no")}


async def test_request_from_another_site_is_refused(human_tasks: HumanTasks) -> None:
    human_tasks.task([b"x"])
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    for what, body in (("next", {}), ("undo", {"item": str(uuid4())})):
        answer = await browser.http.post(f"{PAGE}/{what}", json=body)
        assert answer.status_code == httpx.codes.FORBIDDEN


async def test_image_is_shown_only_to_the_browser_that_has_its_item(
    human_tasks: HumanTasks,
) -> None:
    human_tasks.task([PNG], show="image", agree=1)
    await human_tasks.import_items()
    first, second = await human_tasks.browser(), await human_tasks.browser()
    [item] = (await first.next()).items
    image = await first.http.get(f"{PAGE}/{item.image}")
    assert (image.content, image.headers["content-type"]) == (PNG, "image/png")
    assert image.headers["x-content-type-options"] == "nosniff"
    assert (await second.http.get(f"{PAGE}/{item.image}")).status_code == httpx.codes.NOT_FOUND


async def test_requests_and_new_browsers_are_rate_limited() -> None:
    rate = BrowserRate(requests=2, newcomers=1)
    for _ in range(2):
        await rate.require_browser("a")
    with pytest.raises(RequestRateExceeded):
        await rate.require_browser("a")
    await rate.require_browser("b")
    await rate.require_address("10.0.0.1")
    with pytest.raises(RequestRateExceeded):
        await rate.require_address("10.0.0.1")
    await rate.require_address("10.0.0.2")


async def test_too_many_new_browsers_of_an_address_are_refused(
    make_database: DatabaseFactory, tmp_path: Path
) -> None:
    async with run_human_tasks(
        await make_database("wfms.ask.db.migrations"), tmp_path, newcomers=2
    ) as human_tasks:
        human_tasks.task([b"x"])
        await human_tasks.import_items()
        key = await human_tasks.key()
        for _ in range(2):
            await human_tasks.browser(key)
        app = allow_everybody(human_tasks.app)
        url = f"http://ask.test{PAGE}?key={key}"
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as third:
            refused = await third.get(url)
            assert refused.status_code == httpx.codes.TOO_MANY_REQUESTS
            assert "too many requests: try again in " in refused.json()["detail"]
            page = await third.get(url, headers={"Accept": "text/html"})
            assert page.status_code == httpx.codes.TOO_MANY_REQUESTS
            assert page.headers["content-type"].startswith("text/html")
            assert not third.cookies
        elsewhere = httpx.ASGITransport(app, client=("10.0.0.2", 1))
        async with httpx.AsyncClient(transport=elsewhere) as other:
            assert (await other.get(url)).status_code == httpx.codes.SEE_OTHER
