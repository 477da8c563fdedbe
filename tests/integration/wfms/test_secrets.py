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
from sluice.contracts.templates.conditions import Equals
from sluice.contracts.templates.plan import Plan
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step

OPEN = SecretRef(name="places-api")


def make_plan_with_secret() -> Plan:
    return make_plan(
        make_step("ask", needs=Needs(secrets={"key": OPEN})),
        outputs=[("ask", "out")],
        secrets={"token": OPEN},
    )


def store_secret(wfms: WfmsFixture, *versions: int, templates: str = "wf*") -> None:
    wfms.secrets["places-api"] = Secret(
        name="places-api",
        versions=[
            SecretVersion(version=version, created_at=datetime.now(UTC), templates=[templates])
            for version in sorted(versions, reverse=True)
        ],
    )


async def test_version_of_a_secret_is_fixed_when_the_chain_is_created(wfms: WfmsFixture) -> None:
    store_secret(wfms, 1, 2)
    chain = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_plan_with_secret())
    )
    store_secret(wfms, 1, 2, 3)
    await wfms.start_steps()
    await wfms.deliver_messages()
    [task] = wfms.wms.tasks.values()
    assert task.needs.secrets == {"key": SecretRef(name="places-api", version=2)}
    assert "key" not in task.args
    second = SecretRef(name="places-api", version=2)
    assert (await wfms.get_chain(chain.uid)).secrets == {"token": second}
    assert [one.secrets for one in (await wfms.chains.list_chains()).chains] == [{"token": second}]


async def test_rerun_uses_the_newest_version_of_a_secret(wfms: WfmsFixture) -> None:
    store_secret(wfms, 1)
    chain = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_plan_with_secret())
    )
    await wfms.start_steps()
    await wfms.deliver_messages()
    [first] = wfms.wms.tasks
    await wfms.end_task(first, TaskState.FAILED, failed=1, reason="1 of 1 job failed")
    await wfms.run_loops()
    store_secret(wfms, 1, 2)
    rerun, _ = await wfms.chains.rerun_chain(chain.uid, RerunChain(key=uuid4()))
    await wfms.start_steps()
    await wfms.deliver_messages()
    newest = SecretRef(name="places-api", version=2)
    assert rerun.secrets == {"token": newest}
    [task] = [task for uid, task in wfms.wms.tasks.items() if uid != first]
    assert task.needs.secrets == {"key": newest}
    wfms.secrets.clear()
    with pytest.raises(Unprocessable, match="there is no secret 'places-api'"):
        await wfms.chains.rerun_chain(chain.uid, RerunChain(key=uuid4()))


async def test_missing_or_forbidden_secret_is_reported_before_the_chain_is_created(
    wfms: WfmsFixture,
) -> None:
    dataset, template = await wfms.create_input("a"), wfms.add_template(make_plan_with_secret())
    with pytest.raises(Unprocessable, match="`sluice secret set places-api --for wf` sets it"):
        await wfms.create_chain(dataset, template)
    store_secret(wfms, 1, templates="other*")
    with pytest.raises(Unprocessable, match=r"is for other\*, not for this template") as refused:
        await wfms.create_chain(dataset, template)
    reason = "`sluice secret set places-api --for 'other*' --for wf` adds it"
    assert f"{reason}, and asks for the value again" in refused.value.detail
    assert (await wfms.chains.list_chains()).chains == []


async def test_data_set_without_its_secret_is_unmatched_until_the_secret_is_set(
    wfms: WfmsFixture,
) -> None:
    wfms.add_template(
        make_plan_with_secret().model_copy(update={"match": {"kind": Equals(value="raw")}})
    )
    intake = IntakeClient(wfms.client("wfms.intake"))
    dataset = await wfms.create_input("a", meta={"kind": "raw"})
    await wfms.match_datasets()
    await wfms.start_chains()
    [unmatched] = (await intake.list_unmatched()).datasets
    assert "there is no secret 'places-api'" in unmatched.reason
    store_secret(wfms, 1)
    await intake.rematch(dataset_uid=dataset.uid)
    await wfms.start_chains()
    [chain] = (await wfms.chains.list_chains()).chains
    assert chain.secrets == {"token": SecretRef(name="places-api", version=1)}


async def test_request_with_the_value_of_a_secret_is_refused(wfms: WfmsFixture) -> None:
    store_secret(wfms, 1)
    with pytest.raises(Unprocessable, match="parameter 'token' cannot be given") as refused:
        await wfms.create_chain(
            await wfms.create_input("a"),
            wfms.add_template(make_plan_with_secret()),
            token="hunter2",
        )
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in str(refused.value.findings)
