"""Tests that pages show exactly the forms that the viewer may send."""

import html
import re
from collections.abc import Iterator

import httpx
import pytest

from sluice.contracts.access.access import Role
from sluice.contracts.common.states import ChainState
from sluice.servicekit.access.principal import Person
from tests.attacks.known_values import create_dataset, create_known_objects
from tests.attacks.whole_system import WholeSystem, open_whole_system
from tests.servers.postgres import PostgresServer
from tests.unit.access.table import Row, read_rows
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-shown-controls")

OPERATOR = "wfms.operator"
PAGES = [
    row for row in read_rows() if row.service == OPERATOR and not row.address.startswith("/api")
]
FORMS = [row for row in PAGES if row.method == "POST"]
_FORM = re.compile(r'<form[^>]*method="post"[^>]*action="([^"?]+)')
_LINK = re.compile(r'<a class="button[^"]*"[^>]*href="([^"?]+)')
#: Each role as the owner of all objects and as another member of the group.
PEOPLE = {
    **{f"owner, {role}": Person("anna", role, groups=("ocr",)) for role in Role},
    **{f"other, {role}": Person("boris", role, groups=("ocr",)) for role in Role},
}


@pytest.fixture(scope="module")
def shown_controls(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, dict[str, set[str]]]]:
    """Return the addresses of forms and of button links by viewer and page."""
    with open_whole_system(postgres_server, tmp_path_factory.mktemp("whole") / "home") as system:
        objects = create_known_objects(system)
        chain, unmatched_dataset = objects["chains"][0], create_dataset(system, "odd")
        wait_until(
            lambda: (
                unmatched_dataset in str(system.request_json(OPERATOR, "GET", "/api/v1/unmatched"))
            ),
            what="the unmatched data set",
        )
        addresses = [
            "/", "/chains", f"/chains/{chain}", "/chains/new", "/datasets",
            f"/datasets/{objects['datasets'][0]}", f"/datasets/{unmatched_dataset}",
            "/datasets/unmatched", "/tasks", f"/tasks/{objects['tasks'][0]}",
            f"/pilots/{objects['pilots'][0]}", "/steps", "/storages", "/assets", "/queues",
            "/queues/dms.files", "/templates", "/templates/words", "/run-templates",
            f"/run-templates/{objects['run-templates'][0]}", "/tools", "/tools/cat",
            "/groups", "/asking", f"/asking/{objects['asking'][0]}",
            f"/chains/new?template=words&dataset={objects['unmatched'][0]}",
        ]  # fmt: skip
        controls_of = {
            viewer: _read_controls_of_pages(system, person, addresses)
            for viewer, person in PEOPLE.items()
        }
        system.request_json(
            OPERATOR, "POST", f"/api/v1/chains/{chain}/cancel", {"reason": "enough"}
        )
        path = f"/api/v1/chains/{chain}"
        wait_until(
            lambda: system.request_json(OPERATOR, "GET", path)["state"] == ChainState.CANCELED,
            what="the end of the chain",
        )
        system.request_json(
            OPERATOR, "POST", "/api/v1/templates/words/disable", {"reason": "enough"}
        )
        addresses = [f"/chains/{chain}", f"/chains/{chain}/rerun", "/templates/words"]
        for viewer, person in PEOPLE.items():
            for page, controls in _read_controls_of_pages(system, person, addresses).items():
                controls_of[viewer][f"{page} at the end"] = controls
        yield controls_of


def _read_controls_of_pages(
    system: WholeSystem, person: Person, addresses: list[str]
) -> dict[str, set[str]]:
    return {page: _read_controls(system, person, page) for page in addresses}


def _read_controls(system: WholeSystem, person: Person, page: str) -> set[str]:
    client = system.links.http_of(person, OPERATOR)
    answer: httpx.Response = system.run_coroutine(client.get(page))
    assert answer.status_code in {200, 403}, (page, answer.status_code)
    addresses = {*_FORM.findall(answer.text), *_LINK.findall(answer.text)}
    return {html.unescape(each) for each in addresses}


def _find_row(address: str) -> Row | None:
    """Return the row of the form, or None for a button that only reads or that all may use."""
    if address == "/chains/new":  # This button leads to the form.
        return next(row for row in FORMS if row.address == "/chains/new")
    if address.endswith("/rerun"):
        return next(row for row in FORMS if row.address.endswith("/rerun"))
    for row in FORMS:
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", row.address), address):
            return row
    return None


def _may_use(row: Row, person: Person) -> bool:
    own = "submitter:own" in row.who and person.name != "anna"
    allowed_row = (
        Row(row.service, row.method, row.address, row.who - {"submitter:own"}) if own else row
    )
    return allowed_row.lets(person.role)


@pytest.mark.parametrize("viewer", PEOPLE)
def test_pages_show_exactly_the_controls_that_the_viewer_may_use(
    shown_controls: dict[str, dict[str, set[str]]], viewer: str
) -> None:
    person, problems = PEOPLE[viewer], []
    for page, everything in shown_controls["owner, admin"].items():
        for address in everything:
            row = _find_row(address)
            if row is None:
                continue
            is_shown = address in shown_controls[viewer][page]
            if is_shown != _may_use(row, person):
                problems.append(f"{page}: {address} is {'shown' if is_shown else 'missing'}")
        assert shown_controls[viewer][page] <= everything
    assert problems == [], "\n".join(problems)


def test_pages_of_the_test_show_all_forms(shown_controls: dict[str, dict[str, set[str]]]) -> None:
    """The exceptions need objects that an idle system does not have."""
    shown_forms = {
        row.address
        for everything in shown_controls["owner, admin"].values()
        for address in everything
        if (row := _find_row(address)) is not None
    }
    missing = {row.address for row in FORMS if "/account" not in row.address} - shown_forms
    assert missing <= {
        "/sign-in",
        "/attention",  # It needs a notice.
        "/device",  # It needs a waiting command.
        "/queues/{queue}/requeue",  # It needs a dead letter.
        "/queues/{queue}/drop",
        "/assets/{name}/remove",  # It needs a version.
        "/templates/review/{held}",
        "/templates/{name}/restore",
        "/pilots/{uid}/remove",  # It needs a pilot that has ended.
        "/people",
        "/people/{name}",
        "/tasks/{uid}/retry",
    }
