"""Pages are reachable from the main navigation, and objects link to their chains."""

import re
from uuid import uuid4

import pytest

from sluice.contracts.common.states import ChainState
from tests.integration.operator.conftest import Operator
from tests.integration.operator.scene import Counts, Scene

#: Linked from the page of an object, or printed by a command.
PAGES_WITHOUT_MENU_LINK = {"/account", "/device", "/chains/new", "/run-templates"}

LINKS = re.compile(r'<nav id="main-navigation".*?</nav>', re.DOTALL)


async def test_navigation_links_every_page_without_parameters(operator: Operator) -> None:
    shown = LINKS.search((await operator.http.get("/people")).text)
    assert shown is not None
    assert set(re.findall(r'href="([^"]+)"', shown[0])) == operator.pages - PAGES_WITHOUT_MENU_LINK
    assert re.findall(r'href="([^"]+)" aria-current="page"', shown[0]) == ["/people"]
    groups = [re.findall(">([^<]+)</a>", group) for group in shown[0].split("<ul>")[1:]]
    assert groups == [
        ["Overview", "Chains", "Tasks", "Steps", "Human tasks", "Times"],
        ["Data sets", "Unmatched", "Periods", "Storages", "Assets"],
        ["Templates", "Tools"],
        ["Pilots", "Queues", "Groups", "People", "Audit"],
    ]


ENTRIES_ABOVE = [
    ("/templates/spd", "/templates"),
    ("/jobs/1", "/tasks"),
    ("/chains/new", "/chains"),
    ("/run-templates", "/templates"),
    ("/queues/wms.tasks", "/queues"),
    ("/runs/1", "/periods"),
]


async def test_navigation_marks_the_entry_above_the_current_page(
    operator: Operator, scene: Scene, subtests: pytest.Subtests
) -> None:
    for page, entry in ENTRIES_ABOVE:
        with subtests.test(page=page):
            shown = LINKS.search((await operator.http.get(page)).text)
            assert shown is not None
            assert re.findall(r'href="([^"]+)" aria-current="page"', shown[0]) == [entry]


async def test_template_page_links_to_the_chains_of_the_template(
    operator: Operator, scene: Scene
) -> None:
    [others] = [scene.chain("other-input", 1, [Counts(finished=1, total=1)], ChainState.FINISHED)]
    neighbours = operator.neighbours
    neighbours.chains[others.uid] = others.model_copy(update={"template": "other"})
    assert 'href="/chains?template=spd"' in (await operator.http.get("/templates/spd")).text
    page = (await operator.http.get("/chains?template=spd")).text
    assert "run-0312-frames" in page
    assert "other-input" not in page
    assert 'href="/chains?state=failed&amp;template=spd"' in page
    assert [
        chain.uid for chain in (await operator.client.list_chains(template="other")).chains
    ] == [others.uid]


async def test_data_set_page_links_to_the_chain_that_wrote_it(
    operator: Operator, scene: Scene
) -> None:
    chain = next(iter(operator.neighbours.chains.values()))
    dataset = next(iter(operator.neighbours.datasets.values()))
    meta = {"chain": str(chain.uid), "step": "merge", "port": "hits"}
    operator.neighbours.datasets[dataset.uid] = dataset.model_copy(update={"meta": meta})
    page = (await operator.http.get(f"/datasets/{dataset.uid}")).text
    assert f'written by the chain <a href="/chains/{chain.uid}">' in page
    assert "hits of step merge" in page
    meta["chain"] = str(uuid4())
    assert "written by the chain" not in (await operator.http.get(f"/datasets/{dataset.uid}")).text
