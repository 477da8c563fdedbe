"""Pages of chains tell why a step waits."""

import re

from sluice.contracts.common.states import ChainState
from tests.integration.operator.conftest import Operator
from tests.integration.operator.scene import Counts, Scene


async def test_pages_of_a_chain_tell_why_its_step_waits(operator: Operator, scene: Scene) -> None:
    """The text links to the task, and only steps without a running job have it."""
    waits = Counts(finished=3, ready=57, total=60)
    chain = scene.chain("run-0314-frames", 2, [waits], ChainState.IN_PROGRESS)
    first = chain.steps[0]
    explanation = "0 jobs run and 57 wait for a free slot; 8 slots are busy with it."
    for path in ("/", f"/chains/{chain.uid}"):
        page = (await operator.http.get(path)).text
        [wait] = re.findall('<p class="wait">(.*?)</p>', page)
        assert f'href="/tasks/{first.task_uid}"' in wait
        assert explanation in wait
    busy = next(
        chain for chain in operator.neighbours.chains.values() if "0312" in chain.dataset_name
    )
    assert 'class="wait"' not in (await operator.http.get(f"/chains/{busy.uid}")).text
