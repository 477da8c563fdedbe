"""Lookup of data sets, chains, tasks and pilots by name, uid or the beginning of a uid."""

import re
from collections.abc import AsyncIterator, Iterable
from uuid import UUID

from sluice.cli.connection import Connection
from sluice.cli.moments import local_time
from sluice.cli.system import System
from sluice.contracts.chains.chains import Chain, ChainStep
from sluice.contracts.common.labels import Ambiguous, label, meant
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import PilotState, StepState
from sluice.contracts.common.wording import did_you_mean
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.contracts.templates.templates import Template, template_label
from sluice.text.visible_text import quoted

#: The minimum length of the beginning of a uid.
SHORTEST = 6
#: The page sizes for a search of all data sets and chains.
_DATASETS, _CHAINS = 10_000, 1_000
_BEGINNING = re.compile(f"[0-9a-f-]{{{SHORTEST},36}}")


async def dataset_called(connection: Connection, called: str) -> Dataset:
    """Return the data set with this name, uid or beginning of a uid.

    Raises:
        NotFound: No data set matches. The message may suggest a similar name.
        Ambiguous: Several data sets match.
    """
    uid = _uid(called)
    if uid is not None:
        return await connection.operator.dataset(uid)
    found = (await connection.operator.datasets(name=called)).datasets
    names: list[str] = []
    if not found:
        async for page in _dataset_pages(connection, every=_may_begin(called)):
            found += [dataset for dataset in page if _begins(dataset.uid, called)]
            names += [label(dataset) for dataset in page]
    dataset = meant(called, found)
    if dataset is None:
        raise NotFound(
            f"there is no data set {quoted(called)}{did_you_mean(called, names)}"
            f"{_length_hint(called)}"
        )
    return dataset


async def chain_called(connection: Connection, called: str) -> Chain:
    """Return the chain with this uid, beginning of a uid or name of its input data set.

    Raises:
        NotFound: No chain matches. The message may suggest a similar name.
        Ambiguous: Several chains match.
    """
    uid = _uid(called)
    if uid is not None:
        return await connection.operator.chain(uid)
    found = (await connection.operator.chains(name=called, limit=_CHAINS)).chains
    names: list[str] = []
    if not found:
        async for page in _chain_pages(connection, every=_may_begin(called)):
            found += [
                chain
                for chain in page
                if chain.dataset_name == called or _begins(chain.uid, called)
            ]
            names += [chain.dataset_name for chain in page]
    if len(found) > 1:
        raise Ambiguous("chains", called, [chain_in_short(chain) for chain in found])
    if not found:
        raise NotFound(
            f"there is no chain {quoted(called)}{did_you_mean(called, names)}{_length_hint(called)}"
        )
    return found[0]


async def task_called(connection: Connection, called: str) -> UUID:
    """Return the uid of the task with this uid, beginning of a uid or ``CHAIN.STEP``.

    Names of data sets and of steps may contain dots. A complete uid is returned without a check.

    Raises:
        NotFound: No task matches. The message may suggest a similar name.
        Ambiguous: Several tasks or chains match.
    """
    uid = _uid(called)
    if uid is not None:
        return uid
    steps: list[str] = []
    for place in reversed([place for place, letter in enumerate(called) if letter == "."]):
        try:
            chain = await chain_called(connection, called[:place])
        except NotFound:
            continue
        for step in chain.steps:
            if step.name == called[place + 1 :]:
                return _task_of(chain, step)
        steps += [f"{called[:place]}.{step.name}" for step in chain.steps if step.task_uid]
    found = await _tasks_that_begin(connection, called)
    if len(found) > 1:
        raise Ambiguous("tasks", called, [f"{uid}: {name}" for uid, name in found.items()])
    if not found:
        job = f"; for job {called}: `sluice task job {called}`" if called.isdecimal() else ""
        raise NotFound(
            f"there is no task {quoted(called)}{did_you_mean(called, steps)}: give its uid, the"
            f" uid's beginning, or CHAIN.STEP of a step that has begun{job}"
        )
    return next(iter(found))


def _task_of(chain: Chain, step: ChainStep) -> UUID:
    """Return the uid of a step's task.

    Raises:
        NotFound: The step has no task. The message says why.
    """
    if step.task_uid is not None:
        return step.task_uid
    why = {
        StepState.PENDING: "it waits for the steps before it",
        StepState.STARTING: "it starts, and has a task in a moment",
    }.get(step.state, f"it is {step.outcome}{f': {step.reason}' if step.reason else ''}")
    raise NotFound(
        f"step {step.name} of {chain.dataset_name} has no task: {why}; `sluice chain show"
        f" {chain.uid}` shows all steps"
    )


async def _tasks_that_begin(connection: Connection, called: str) -> dict[UUID, str]:
    """Return ``CHAIN.STEP`` of all tasks whose uid begins with a text, by uid."""
    if not _may_begin(called):
        return {}
    return {
        step.task_uid: f"{chain.dataset_name}.{step.name}"
        async for page in _chain_pages(connection, every=True)
        for chain in page
        for step in chain.steps
        if step.task_uid is not None and _begins(step.task_uid, called)
    }


async def _dataset_pages(connection: Connection, *, every: bool) -> AsyncIterator[list[Dataset]]:
    """Yield pages of data sets, the newest first: all pages, or only the first."""
    after: str | None = None
    while True:
        page = await connection.operator.datasets(newest=True, after=after, limit=_DATASETS)
        yield page.datasets
        after = page.after
        if not every or after is None or len(page.datasets) < _DATASETS:
            return


async def _chain_pages(connection: Connection, *, every: bool) -> AsyncIterator[list[Chain]]:
    """Yield pages of chains: all pages, or only the first."""
    after: str | None = None
    while True:
        page = await connection.operator.chains(after=after, limit=_CHAINS)
        yield page.chains
        after = page.after
        if not every or after is None:
            return


async def pilot_called(connection: Connection, called: str) -> Pilot:
    """Return the pilot with this name, uid or beginning of a uid.

    Active pilots take precedence over all others.

    Raises:
        NotFound: No pilot matches. The message may suggest a similar name.
        Ambiguous: Several pilots match.
    """
    pilots = (await connection.operator.pilots()).pilots
    found = [
        pilot
        for pilot in pilots
        if called in {pilot.name, str(pilot.uid)} or _begins(pilot.uid, called)
    ]
    active = [pilot for pilot in found if pilot.state is PilotState.ACTIVE]
    if len(active or found) > 1:
        raise Ambiguous(
            "pilots",
            called,
            [
                f"{pilot.uid}: {pilot.name} on {pilot.host}, {pilot.state}"
                for pilot in active or found
            ],
        )
    if not found:
        names = [pilot.name for pilot in pilots]
        raise NotFound(
            f"there is no pilot {quoted(called)}{did_you_mean(called, names)}{_length_hint(called)}"
        )
    return (active or found)[0]


async def template_called(
    connection: Connection, name: str, *, version: int | None = None
) -> Template:
    """Return the template with this name.

    Raises:
        NotFound: There is no such template or version. The message may suggest a similar name.
    """
    try:
        return await connection.operator.template(name, version=version)
    except NotFound:
        names = [known.name for known in (await connection.operator.templates()).templates]
        if name not in names and (meant := did_you_mean(name, names)):
            raise NotFound(f"there is no template {quoted(name)}{meant}") from None
        raise


def require_known(kind: str, name: str, known: Iterable[str]) -> None:
    """Check that a thing of this kind and name exists.

    Args:
        kind: The word of the command line, as in `sluice KIND list`.
        name: The name that the user typed.
        known: All names that exist.

    Raises:
        NotFound: The name does not exist. The message may suggest a similar one.
    """
    names = list(known)
    if name not in names:
        raise NotFound(
            f"there is no {kind} {quoted(name)}{did_you_mean(name, names)}: `sluice {kind} list`"
            " shows all that there are"
        )


def chain_in_short(chain: Chain) -> str:
    """Return one line that distinguishes a chain from others of its name."""
    through = template_label(chain.template, chain.template_version)
    return (
        f"{chain.uid}: {chain.dataset_name} through {through}, {chain.outcome},"
        f" {local_time(chain.created_at)}"
    )


def _uid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _may_begin(text: str) -> bool:
    return _BEGINNING.fullmatch(text.lower()) is not None


def _length_hint(text: str) -> str:
    """Return a hint if the text is empty, or the beginning of a uid but too short for one."""
    if not text:
        return "; give the name, the uid, or the beginning of the uid"
    if re.fullmatch(f"[0-9a-f]{{1,{SHORTEST - 1}}}", text.lower()):
        return f"; the beginning of a uid needs {SHORTEST} characters or more"
    return ""


def _begins(uid: UUID, text: str) -> bool:
    return len(text) >= SHORTEST and str(uid).startswith(text.lower())


def the_dataset(system: System, called: str) -> UUID:
    """Return the uid of a data set, or end the command if not exactly one matches.

    A complete uid is returned without a check.
    """
    return _uid(called) or system.ask(lambda c: dataset_called(c, called)).uid


def the_chain(system: System, called: str) -> UUID:
    """Return the uid of a chain, like ``the_dataset``."""
    return _uid(called) or system.ask(lambda c: chain_called(c, called)).uid


def the_task(system: System, called: str) -> UUID:
    """Return the uid of a task, like ``the_dataset``."""
    return _uid(called) or system.ask(lambda c: task_called(c, called))


def the_pilot(system: System, called: str) -> UUID:
    """Return the uid of a pilot, like ``the_dataset``."""
    return _uid(called) or system.ask(lambda c: pilot_called(c, called)).uid
