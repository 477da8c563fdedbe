"""Pages that show chains say why a step of them waits."""

import re

from sluice.contracts.states import ChainState
from tests.integration.operator.conftest import Operator
from tests.integration.operator.scene import Counts, Scene
from tests.integration.operator.test_pages import scene

__all__ = ["scene"]  # a fixture


async def test_why_a_step_waits_is_said_where_its_chain_is_shown(
    operator: Operator, scene: Scene
) -> None:
    """With a way to its task, and only for a step of which no job is at work."""
    waits = Counts(finished=3, ready=57, total=60)
    chain = scene.chain("run-0314-frames", 2, [waits], ChainState.IN_PROGRESS)
    first = chain.steps[0]
    said = "0 jobs run and 57 wait for a free slot; 8 slots are busy with it."
    for path in ("/", f"/chains/{chain.uid}"):
        page = (await operator.http.get(path)).text
        [wait] = re.findall('<p class="wait">(.*?)</p>', page)
        assert f'href="/tasks/{first.task_uid}"' in wait
        assert said in wait
    busy = next(
        chain for chain in operator.neighbours.chains.values() if "0312" in chain.dataset_name
    )
    assert 'class="wait"' not in (await operator.http.get(f"/chains/{busy.uid}")).text
