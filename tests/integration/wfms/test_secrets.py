"""Chains of templates with secrets: messages have names and versions, and never values."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from sluice.clients.intake import IntakeClient
from sluice.contracts.access.secrets import Secret, SecretRef, SecretVersion
from sluice.contracts.chains.chains import RerunChain
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.templates.plan import Equals, Plan
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import plan, step

OPEN = SecretRef(name="places-api")


def asking() -> Plan:
    return plan(
        step("ask", needs=Needs(secrets={"key": OPEN})),
        outputs=[("ask", "out")],
        secrets={"token": OPEN},
    )


def keep(world: World, *versions: int, templates: str = "wf*") -> None:
    world.secrets["places-api"] = Secret(
        name="places-api",
        versions=[
            SecretVersion(version=version, created_at=datetime.now(UTC), templates=[templates])
            for version in sorted(versions, reverse=True)
        ],
    )


async def test_version_of_a_secret_is_fixed_when_the_chain_is_created(world: World) -> None:
    keep(world, 1, 2)
    chain = await world.new_chain(await world.input("a"), world.template(asking()))
    keep(world, 1, 2, 3)
    await world.start_steps()
    await world.deliver()
    [task] = world.wms.tasks.values()
    assert task.needs.secrets == {"key": SecretRef(name="places-api", version=2)}
    assert "key" not in task.args
    second = SecretRef(name="places-api", version=2)
    assert (await world.chain(chain.uid)).secrets == {"token": second}
    assert [one.secrets for one in (await world.chains.list_chains()).chains] == [{"token": second}]


async def test_rerun_uses_the_newest_version_of_a_secret(world: World) -> None:
    keep(world, 1)
    chain = await world.new_chain(await world.input("a"), world.template(asking()))
    await world.start_steps()
    await world.deliver()
    [first] = world.wms.tasks
    await world.end_task(first, TaskState.FAILED, failed=1, reason="1 of 1 job failed")
    await world.turn()
    keep(world, 1, 2)
    again, _ = await world.chains.rerun_chain(chain.uid, RerunChain(key=uuid4()))
    await world.start_steps()
    await world.deliver()
    newest = SecretRef(name="places-api", version=2)
    assert again.secrets == {"token": newest}
    [task] = [task for uid, task in world.wms.tasks.items() if uid != first]
    assert task.needs.secrets == {"key": newest}
    world.secrets.clear()
    with pytest.raises(Unprocessable, match="there is no secret 'places-api'"):
        await world.chains.rerun_chain(chain.uid, RerunChain(key=uuid4()))


async def test_missing_or_forbidden_secret_is_reported_before_the_chain_is_created(
    world: World,
) -> None:
    dataset, template = await world.input("a"), world.template(asking())
    with pytest.raises(Unprocessable, match="`sluice secret set places-api --for wf` sets it"):
        await world.new_chain(dataset, template)
    keep(world, 1, templates="other*")
    with pytest.raises(Unprocessable, match="is not for this template, but for other") as refused:
        await world.new_chain(dataset, template)
    how = "`sluice secret set places-api --for 'other*' --for wf` adds it"
    assert f"{how}, and asks for the value again" in refused.value.detail
    assert (await world.chains.list_chains()).chains == []


async def test_data_set_without_its_secret_is_unmatched_until_the_secret_is_set(
    world: World,
) -> None:
    world.template(asking().model_copy(update={"match": {"kind": Equals(value="raw")}}))
    intake = IntakeClient(world.client("wfms.intake"))
    dataset = await world.input("a", meta={"kind": "raw"})
    await world.take_in()
    await world.start_chains()
    [unmatched] = (await intake.list_unmatched()).datasets
    assert "there is no secret 'places-api'" in unmatched.reason
    keep(world, 1)
    await intake.rematch(dataset.uid)
    await world.start_chains()
    [chain] = (await world.chains.list_chains()).chains
    assert chain.secrets == {"token": SecretRef(name="places-api", version=1)}


async def test_request_with_the_value_of_a_secret_is_refused(world: World) -> None:
    keep(world, 1)
    with pytest.raises(Unprocessable, match="parameter 'token' is given by nobody") as refused:
        await world.new_chain(await world.input("a"), world.template(asking()), token="hunter2")
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in str(refused.value.findings)
