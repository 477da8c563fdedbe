"""Words for the states of chains, steps and tasks."""

import io

import httpx
import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from sluice.cli.commands.data.asset import chain_text
from sluice.cli.commands.jobs.task import explain_task
from sluice.cli.object_lookup import resolve_task
from sluice.clientkit.connection import Connection
from sluice.clientkit.watch.progress import StepBars
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.chains.chains import Chain, ChainStep, ChainTask
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ChainState, StepState
from tests.unit.clientkit.chains import make_chain_with_steps
from tests.unit.operator.chains import make_status


def make_task(chain: Chain, state: StepState) -> ChainTask:
    return ChainTask(
        task_uid=chain.uid,
        chain_uid=chain.uid,
        step="cut",
        template="t",
        dataset_name="d",
        state=state,
    )


def test_failed_chain_is_shown_with_its_reason() -> None:
    chain = make_chain_with_steps(ChainStep(name="cut", state=StepState.FAILED))
    failed = chain.model_copy(update={"state": ChainState.FAILED, "reason": "cut failed"})
    assert chain_text(failed) == f"chain {chain.uid}, d through t, failed: cut failed"


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (StepState.PENDING, "step cut of d has no task: it waits for the steps before it"),
        (StepState.STARTING, "step cut of d has no task: it starts, and has a task in a moment"),
        (StepState.CANCELED, "step cut of d has no task: it is canceled: cut is full"),
    ],
)
async def test_step_without_a_task_is_described_by_its_state(state: StepState, why: str) -> None:
    reason = "cut is full" if state.final else ""
    chain = make_chain_with_steps(ChainStep(name="cut", state=state, reason=reason))

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=chain.model_dump(mode="json"))

    transport = httpx.MockTransport(answer)
    async with httpx.AsyncClient(transport=transport, base_url="http://system") as http:
        connection = Connection("http://system", OperatorClient(http), DmsClient(http))
        with pytest.raises(NotFound, match=why):
            await resolve_task(connection, f"{chain.uid}.cut")


async def test_task_that_has_not_reached_the_wms_is_described_as_starting() -> None:
    chain = make_chain_with_steps()

    def answer(request: httpx.Request) -> httpx.Response:
        problem = {"type": "urn:sluice:problem:not-found", "title": "Not found", "status": 404}
        return httpx.Response(404, json=problem | {"detail": "no task"})

    transport = httpx.MockTransport(answer)
    async with httpx.AsyncClient(transport=transport, base_url="http://system") as http:
        connection = Connection("http://system", OperatorClient(http), DmsClient(http))
        for state in (StepState.STARTING, StepState.IN_PROGRESS):
            description = await explain_task(connection, make_task(chain, state))
            assert description == "The step starts: its task has not reached the WMS yet."
        with pytest.raises(NotFound):
            await explain_task(connection, make_task(chain, StepState.FAILED))


@pytest.mark.parametrize(
    ("state", "expected_note"),
    [
        (StepState.FAILED, "1 of 30 jobs failed"),
        (StepState.FINISHED, "done, 1 of 30 jobs failed"),
        (StepState.IN_PROGRESS, "1 of 30 jobs failed"),
    ],
)
def test_progress_bar_shows_the_number_of_failed_jobs_once(
    state: StepState, expected_note: str
) -> None:
    console = Console(file=io.StringIO())
    progress = Progress(TextColumn("{task.fields[note]}"), console=console)
    chain = make_chain_with_steps(ChainStep(name="cut", state=state))
    counts = make_status(finished=29, failed=1)
    task = make_task(chain, state).model_copy(update={"jobs": counts})
    StepBars(progress).show(chain, [task])
    [bar] = progress.tasks
    note = bar.fields["note"].replace("[red]", "").replace("[/]", "")
    assert note == expected_note


def test_clock_of_a_step_runs_from_its_first_job_to_its_end() -> None:
    """A step that is canceled before its first job shows no time."""
    now = 0.0
    progress = Progress(TimeElapsedColumn(), get_time=lambda: now)
    bars, shown = StepBars(progress), list[tuple[str, str]]()
    steps = (
        (5, StepState.PENDING, StepState.PENDING, {"ready": 2}),
        (10, StepState.IN_PROGRESS, StepState.PENDING, {"ready": 2}),
        (20, StepState.IN_PROGRESS, StepState.PENDING, {"running": 1, "ready": 1}),
        (50, StepState.CANCELED, StepState.CANCELED, {"canceled": 2}),
        (90, StepState.CANCELED, StepState.CANCELED, {"canceled": 2}),
    )
    for now, first, second, counts in steps:
        chain = make_chain_with_steps(
            ChainStep(name="cut", state=first), ChainStep(name="sum", state=second)
        )
        started = chain.created_at if now >= 20 else None
        jobs = make_status(**counts).model_copy(update={"started_at": started})
        bars.show(chain, [make_task(chain, first).model_copy(update={"jobs": jobs})])
        cut, later = (str(TimeElapsedColumn().render(task)) for task in progress.tasks)
        shown.append((cut, later))
    none = "-:--:--"
    assert shown == [
        (none, none),
        (none, none),
        ("0:00:00", none),
        ("0:00:30", none),
        ("0:00:30", none),
    ]
