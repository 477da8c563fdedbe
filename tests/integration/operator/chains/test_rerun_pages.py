"""Reruns of a chain: the page, the command, and the forwarded request."""

import html
from uuid import UUID, uuid4

from sluice.contracts.chains.chains import RerunChain
from sluice.contracts.common.states import ChainState
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.scene import Scene
from tests.integration.operator.sluice_command import Command


def get_ended_chain_page(operator: Operator) -> str:
    return next(
        f"/chains/{uid}"
        for uid, chain in operator.neighbours.chains.items()
        if chain.state is ChainState.FAILED
    )


async def test_page_shows_the_rerun_plan_and_starts_the_rerun(
    operator: Operator, scene: Scene
) -> None:
    chain = get_ended_chain_page(operator)
    assert f'href="{chain}/rerun"' in (await operator.http.get(chain)).text
    page = await operator.http.get(f"{chain}/rerun?what=failed&param-min_hits=5")
    for text in (
        '<td data-label="Jobs taken over" class="figure">59</td>',
        "taken over",
        "Run it again",
        'value="5"',
    ):
        assert text in page.text
    key = str(uuid4())
    form = {"csrf_token": read_token(page), "key": key, "what": "failed", "param-min_hits": "5"}
    assert (
        await operator.http.post(f"{chain}/rerun", data=form | {"csrf_token": ""})
    ).status_code == 403
    assert operator.neighbours.reruns == []
    shown = await operator.http.post(f"{chain}/rerun", data=form, follow_redirects=True)
    assert [rerun.model_dump(mode="json") for rerun in operator.neighbours.reruns] == [
        {"from_step": None, "failed_only": True, "params": {"min_hits": 5}, "key": key}
    ]
    assert shown.url.path == f"/chains/{list(operator.neighbours.chains)[-1]}"
    for text in (
        "The chain runs again",
        f'a rerun of <a href="{chain}">',
        "taken over from an earlier chain",
    ):
        assert text in shown.text


async def test_impossible_rerun_is_explained_and_not_offered(
    operator: Operator, scene: Scene
) -> None:
    chain = get_ended_chain_page(operator)
    page = await operator.http.get(f"{chain}/rerun?what=from:decode")
    assert "its input has been deleted" in page.text
    assert 'id="rerun"' not in page.text
    invalid_response = await operator.http.get(f"{chain}/rerun?param-min_hits=few")
    assert invalid_response.status_code == 422
    assert "must be a whole number" in invalid_response.text
    assert (await operator.http.get(f"{chain}/rerun?what=from:nothing")).status_code == 422
    running = next(
        uid for uid, chain in operator.neighbours.chains.items() if not chain.state.final
    )
    refused = await operator.http.get(f"/chains/{running}/rerun")
    assert refused.status_code == 409
    assert "has not ended" in refused.text
    assert "Run again" not in (await operator.http.get(f"/chains/{running}")).text
    form = {"csrf_token": read_token(await operator.http.get(f"{chain}/rerun")), "key": "none"}
    assert (await operator.http.post(f"{chain}/rerun", data=form)).status_code == 422
    assert operator.neighbours.reruns == []


async def test_command_shows_the_plan_before_a_rerun(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    uid = get_ended_chain_page(operator).removeprefix("/chains/")
    steps = [step.name for step in operator.neighbours.chains[UUID(uid)].steps]
    output = await sluice("chain", "rerun", uid, "--failed-only", "--dry-run")
    assert [line.split()[:2] for line in output.splitlines()[1:]] == [
        ["decode", "taken"],
        *([name, "runs"] for name in steps[1:]),
    ]
    assert "it cannot be run again: its input has been deleted" in await sluice(
        "chain", "rerun", uid, "--from", "decode", code=1
    )
    assert operator.neighbours.reruns == []
    output = await sluice("chain", "rerun", uid, "--param", "min_hits=4")
    [rerun] = operator.neighbours.reruns
    assert rerun == RerunChain(params={"min_hits": 4}, key=rerun.key)
    new_uid = list(operator.neighbours.chains)[-1]
    assert f"chain {new_uid}: in_progress, a rerun of {uid}" in output
    assert f"a rerun of chain {uid}" in await sluice("chain", "show", str(new_uid))


async def test_chain_of_a_disabled_template_is_not_run_again(
    operator: Operator, scene: Scene, sluice: Command
) -> None:
    page = get_ended_chain_page(operator)
    uid = page.removeprefix("/chains/")
    name = operator.neighbours.chains[UUID(uid)].template
    token = read_token(await operator.http.get(f"{page}/rerun"))
    await operator.client.disable_template(name)
    sentence = f"template '{name}' is disabled since"
    shown = html.unescape((await operator.http.get(f"{page}/rerun")).text)
    assert sentence in shown
    assert 'id="rerun"' not in shown
    assert f"it cannot be run again: {sentence}" in await sluice("chain", "rerun", uid, code=1)
    sent = await operator.http.post(
        f"{page}/rerun", data={"csrf_token": token, "key": str(uuid4())}
    )
    refusal = await operator.http.post(f"/api/v1{page}/rerun", json={})
    assert (sent.status_code, refusal.status_code) == (409, 409)
    assert refusal.json()["detail"].startswith(sentence)
    assert operator.neighbours.reruns == []
    await operator.client.enable_template(name)
    assert (
        await operator.http.post(f"/api/v1{page}/rerun", json={"key": str(uuid4())})
    ).status_code == 201
