"""Run chains to their end, run them again, and look at their data."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.common.states import DatasetState
from sluice.contracts.templates.plan import Parameter, ParameterRef, Plan, Source
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_plan, make_step

HOUR = timedelta(hours=1)

DELETION_STATES = {DatasetState.DELETING, DatasetState.DELETED}


def make_plan_with_two_outputs() -> Plan:
    """Return a plan with two outputs: decode → (left → last, right)."""
    return make_plan(
        make_step("decode"),
        make_step("left", Source(step="decode", port="out")),
        make_step(
            "right", Source(step="decode", port="out"), arguments={"cut": ParameterRef(name="cut")}
        ),
        make_step("last", Source(step="left", port="out")),
        outputs=[("last", "out"), ("right", "out")],
        parameters={"cut": Parameter(type="int", default=3)},
        retention=DELETE_ALL,
    )


async def run_all_loops(wfms: WfmsFixture, *, fail: str = "", turns: int = 6) -> None:
    """Run all loops until nothing changes; the task of step ``fail`` fails."""
    wfms.wms.failing_tasks = fail
    for _ in range(turns):
        await wfms.run_loops()


async def begin_chain(wfms: WfmsFixture, wf: Plan, *, fail: str, **params: object) -> Chain:
    wfms.keep_failed_data(HOUR)
    chain = await wfms.create_chain(await wfms.create_input("a"), wfms.add_template(wf), **params)
    await run_all_loops(wfms, fail=fail)
    return await wfms.get_chain(chain.uid)


async def rerun_chain(wfms: WfmsFixture, chain: Chain, **options: Any) -> Chain:
    rerun, new = await wfms.chains.rerun_chain(chain.uid, RerunChain(key=uuid4(), **options))
    assert new
    return rerun


def find_dataset(chain: Chain, step: str, port: str = "out") -> UUID:
    [uid] = [
        dataset.uid for dataset in chain.datasets if (dataset.step, dataset.port) == (step, port)
    ]
    return uid


def list_sent_steps(wfms: WfmsFixture, chain: Chain) -> list[str]:
    return [task.step for task in wfms.wms.tasks.values() if task.chain_uid == chain.uid]


async def is_deleted(wfms: WfmsFixture, uid: UUID) -> bool:
    return (await wfms.dms.get_dataset(uid)).state in DELETION_STATES
