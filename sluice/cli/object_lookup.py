"""Lookup of data sets, chains, tasks and pilots by name, uid or the beginning of a uid."""

import re
from collections.abc import AsyncIterator, Iterable
from uuid import UUID

from sluice.cli.system import System
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.contracts.chains.chains import Chain, ChainStep
from sluice.contracts.common.labels import AmbiguousName, label, select_dataset
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import PilotState, StepState
from sluice.contracts.common.wording import did_you_mean
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.contracts.templates.templates import Template, template_label
from sluice.text.visible_text import quoted

#: The minimum length of the beginning of a uid.
MIN_UID_PREFIX = 6
#: The page sizes for a search of all data sets and chains.
_DATASETS, _CHAINS = 10_000, 1_000
_UID_PREFIX = re.compile(f"[0-9a-f-]{{{MIN_UID_PREFIX},36}}")


async def resolve_dataset(connection: Connection, reference: str) -> Dataset:
    """Return the data set with this name, uid or beginning of a uid.

    Raises:
        NotFound: No data set matches. The message may suggest a similar name.
        AmbiguousName: Several data sets match.
    """
    uid = parse_uid(reference)
    if uid is not None:
        return await connection.operator.get_dataset(uid)
    matches = (await connection.operator.list_datasets(name=reference)).datasets
    names: list[str] = []
    if not matches:
        async for page in _dataset_pages(connection, every=_may_be_uid_prefix(reference)):
            matches += [dataset for dataset in page if _has_prefix(dataset.uid, reference)]
            names += [label(dataset) for dataset in page]
    dataset = select_dataset(reference, matches)
    if dataset is None:
        raise NotFound(
            f"there is no data set {quoted(reference)}{did_you_mean(reference, names)}"
            f"{_length_hint(reference)}"
        )
    return dataset


async def resolve_chain(connection: Connection, reference: str) -> Chain:
    """Return the chain with this uid, beginning of a uid or name of its input data set.

    Raises:
        NotFound: No chain matches. The message may suggest a similar name.
        AmbiguousName: Several chains match.
    """
    uid = parse_uid(reference)
    if uid is not None:
        return await connection.operator.get_chain(uid)
    matches = (await connection.operator.list_chains(name=reference, limit=_CHAINS)).chains
    names: list[str] = []
    if not matches:
        async for page in _chain_pages(connection, every=_may_be_uid_prefix(reference)):
            matches += [
                chain
                for chain in page
                if chain.dataset_name == reference or _has_prefix(chain.uid, reference)
            ]
            names += [chain.dataset_name for chain in page]
    if len(matches) > 1:
        raise AmbiguousName("chains", reference, [describe_chain(chain) for chain in matches])
    if not matches:
        raise NotFound(
            f"there is no chain {quoted(reference)}{did_you_mean(reference, names)}"
            f"{_length_hint(reference)}"
        )
    return matches[0]


async def resolve_task(connection: Connection, reference: str) -> UUID:
    """Return the uid of the task with this uid, beginning of a uid or ``CHAIN.STEP``.

    Names of data sets and of steps may contain dots. A complete uid is returned without a check.

    Raises:
        NotFound: No task matches. The message may suggest a similar name.
        AmbiguousName: Several tasks or chains match.
    """
    uid = parse_uid(reference)
    if uid is not None:
        return uid
    steps: list[str] = []
    for place in reversed([place for place, letter in enumerate(reference) if letter == "."]):
        try:
            chain = await resolve_chain(connection, reference[:place])
        except NotFound:
            continue
        for step in chain.steps:
            if step.name == reference[place + 1 :]:
                return _get_task_uid(chain, step)
        steps += [f"{reference[:place]}.{step.name}" for step in chain.steps if step.task_uid]
    matches = await _find_tasks_by_uid_prefix(connection, reference)
    if len(matches) > 1:
        raise AmbiguousName("tasks", reference, [f"{uid}: {name}" for uid, name in matches.items()])
    if not matches:
        job = (
            f"; for job {reference}: `sluice task job {reference}`" if reference.isdecimal() else ""
        )
        raise NotFound(
            f"there is no task {quoted(reference)}{did_you_mean(reference, steps)}: give its uid,"
            f" the uid's beginning, or CHAIN.STEP of a step that has begun{job}"
        )
    return next(iter(matches))


def _get_task_uid(chain: Chain, step: ChainStep) -> UUID:
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


async def _find_tasks_by_uid_prefix(connection: Connection, reference: str) -> dict[UUID, str]:
    """Return ``CHAIN.STEP`` of all tasks whose uid begins with a text, by uid."""
    if not _may_be_uid_prefix(reference):
        return {}
    return {
        step.task_uid: f"{chain.dataset_name}.{step.name}"
        async for page in _chain_pages(connection, every=True)
        for chain in page
        for step in chain.steps
        if step.task_uid is not None and _has_prefix(step.task_uid, reference)
    }


async def _dataset_pages(connection: Connection, *, every: bool) -> AsyncIterator[list[Dataset]]:
    """Yield pages of data sets, the newest first: all pages, or only the first."""
    after: str | None = None
    while True:
        page = await connection.operator.list_datasets(newest=True, after=after, limit=_DATASETS)
        yield page.datasets
        after = page.after
        if not every or after is None or len(page.datasets) < _DATASETS:
            return


async def _chain_pages(connection: Connection, *, every: bool) -> AsyncIterator[list[Chain]]:
    """Yield pages of chains: all pages, or only the first."""
    after: str | None = None
    while True:
        page = await connection.operator.list_chains(after=after, limit=_CHAINS)
        yield page.chains
        after = page.after
        if not every or after is None:
            return


async def resolve_pilot(connection: Connection, reference: str) -> Pilot:
    """Return the pilot with this name, uid or beginning of a uid.

    Active pilots take precedence over all others.

    Raises:
        NotFound: No pilot matches. The message may suggest a similar name.
        AmbiguousName: Several pilots match.
    """
    pilots = (await connection.operator.list_pilots()).pilots
    matches = [
        pilot
        for pilot in pilots
        if reference in {pilot.name, str(pilot.uid)} or _has_prefix(pilot.uid, reference)
    ]
    active = [pilot for pilot in matches if pilot.state is PilotState.ACTIVE]
    if len(active or matches) > 1:
        raise AmbiguousName(
            "pilots",
            reference,
            [
                f"{pilot.uid}: {pilot.name} on {pilot.host}, {pilot.state}"
                for pilot in active or matches
            ],
        )
    if not matches:
        names = [pilot.name for pilot in pilots]
        raise NotFound(
            f"there is no pilot {quoted(reference)}{did_you_mean(reference, names)}"
            f"{_length_hint(reference)}"
        )
    return (active or matches)[0]


async def resolve_template(
    connection: Connection, name: str, *, version: int | None = None
) -> Template:
    """Return the template with this name.

    Raises:
        NotFound: There is no such template or version. The message may suggest a similar name.
    """
    try:
        return await connection.operator.get_template(name, version=version)
    except NotFound:
        names = [
            template.name for template in (await connection.operator.list_templates()).templates
        ]
        if name not in names and (suggestion := did_you_mean(name, names)):
            raise NotFound(f"there is no template {quoted(name)}{suggestion}") from None
        raise


def require_existing_name(kind: str, name: str, existing_names: Iterable[str]) -> None:
    """Check that a thing of this kind and name exists.

    Args:
        kind: The word of the command line, as in `sluice KIND list`.
        name: The name that the user typed.
        existing_names: All names that exist.

    Raises:
        NotFound: The name does not exist. The message may suggest a similar one.
    """
    names = list(existing_names)
    if name not in names:
        raise NotFound(
            f"there is no {kind} {quoted(name)}{did_you_mean(name, names)}: `sluice {kind} list`"
            " lists them"
        )


def describe_chain(chain: Chain) -> str:
    """Return one line that distinguishes a chain from others of its name."""
    template = template_label(chain.template, chain.template_version)
    return (
        f"{chain.uid}: {chain.dataset_name} through {template}, {chain.outcome},"
        f" {local_time(chain.created_at)}"
    )


def parse_uid(text: str) -> UUID | None:
    """Return a uid, or None if the text is not a complete one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _may_be_uid_prefix(text: str) -> bool:
    return _UID_PREFIX.fullmatch(text.lower()) is not None


def _length_hint(text: str) -> str:
    """Return a hint if the text is empty, or the beginning of a uid but too short for one."""
    if not text:
        return "; give the name, the uid, or the beginning of the uid"
    if re.fullmatch(f"[0-9a-f]{{1,{MIN_UID_PREFIX - 1}}}", text.lower()):
        return f"; the beginning of a uid needs {MIN_UID_PREFIX} characters or more"
    return ""


def _has_prefix(uid: UUID, text: str) -> bool:
    """Return whether a text is the beginning of a uid and long enough for one."""
    return len(text) >= MIN_UID_PREFIX and str(uid).startswith(text.lower())


def select_uid(reference: str, uids: Iterable[UUID], *, kind: str) -> UUID:
    """Return the uid that begins with a text.

    Args:
        reference: The text that the user typed.
        uids: The uids of all objects of the kind.
        kind: The noun of the kind.

    Raises:
        NotFound: No uid matches.
        AmbiguousName: Several uids match.
    """
    matches = [uid for uid in uids if _has_prefix(uid, reference)]
    if len(matches) > 1:
        raise AmbiguousName(f"{kind}s", reference, [str(uid) for uid in sorted(matches)])
    if not matches:
        raise NotFound(f"there is no {kind} {quoted(reference)}{_length_hint(reference)}")
    return matches[0]


def resolve_dataset_uid(system: System, reference: str) -> UUID:
    """Return the uid of a data set, or end the command if not exactly one matches.

    A complete uid is returned without a check.
    """
    return parse_uid(reference) or system.ask(lambda c: resolve_dataset(c, reference)).uid


def resolve_chain_uid(system: System, reference: str) -> UUID:
    """Return the uid of a chain, like ``resolve_dataset_uid``."""
    return parse_uid(reference) or system.ask(lambda c: resolve_chain(c, reference)).uid


def resolve_task_uid(system: System, reference: str) -> UUID:
    """Return the uid of a task, like ``resolve_dataset_uid``."""
    return parse_uid(reference) or system.ask(lambda c: resolve_task(c, reference))


def resolve_pilot_uid(system: System, reference: str) -> UUID:
    """Return the uid of a pilot, like ``resolve_dataset_uid``."""
    return parse_uid(reference) or system.ask(lambda c: resolve_pilot(c, reference)).uid
