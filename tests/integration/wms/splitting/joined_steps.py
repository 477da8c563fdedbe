"""Steps that join an output with the input it was made of."""

from sluice.contracts.common.states import InputMode
from sluice.contracts.jobs.tasks import Task, TaskInput
from tests.integration.wms.chain_of_steps import ChainOfSteps


async def make_joined_step(chain: ChainOfSteps, *, first: str) -> Task:
    """Make ``b`` read the output and the input of ``a`` by number. ``first`` is the main input."""
    a, b = chain.steps["a"], chain.steps["b"]
    inputs = {"original": a.main_input.dat_in_uid, "made": a.main_output.dat_out_uid}
    read = [
        TaskInput(port=port, dat_in_uid=inputs[port], mode=InputMode.EACH)
        for port in sorted(inputs, key=lambda port: port != first)
    ]
    chain.steps["b"] = b.model_copy(update={"inputs": read})
    return chain.steps["b"]
