"""What stands on the first page: numbers, and what needs a person, each in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sluice.contracts.intake import Tie
from sluice.contracts.pilots import Pilot
from sluice.contracts.states import ChainState, PilotState
from wfms.operator.domain.progress import ChainProgress
from wfms.operator.domain.wording import count_text


class Weight(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Notice:
    """``chain`` or ``task``: uid of what it is about, as text; ``page``: or the page that shows it."""

    weight: Weight
    text: str
    chain: str = ""
    task: str = ""
    page: str = ""


@dataclass(frozen=True, slots=True)
class Pilots:
    pilots: list[Pilot]

    @property
    def active(self) -> list[Pilot]:
        return [pilot for pilot in self.pilots if pilot.state in {PilotState.ACTIVE, PilotState.DRAINING}]

    @property
    def slots(self) -> int:
        return sum(pilot.slots for pilot in self.active)

    @property
    def busy(self) -> int:
        return sum(pilot.running for pilot in self.active)


@dataclass(frozen=True, slots=True)
class Overview:
    """``pilots`` None: the WMS does not answer."""

    running: list[ChainProgress]
    ended: list[ChainProgress]
    pilots: Pilots | None
    notices: list[Notice]
    templates: int
    waiting_jobs: int
    running_jobs: int


def overview_of(
    *,
    running: list[ChainProgress],
    ended: list[ChainProgress],
    pilots: list[Pilot] | None,
    troubles: list[str],
    templates: int,
    intake: Sequence[Notice] = (),
) -> Overview:
    tasks = [progress.task for chain in running for progress in chain.steps if progress.task is not None]
    waiting = sum(task.ready for task in tasks)
    known = None if pilots is None else Pilots(pilots)
    notices = [Notice(Weight.ERROR, trouble) for trouble in troubles]
    if known is not None and not known.active and waiting:
        notices.append(
            Notice(
                Weight.ERROR, f"{count_text(waiting, 'job')} {'waits' if waiting == 1 else 'wait'}, and no pilot runs: start one"
            )
        )
    notices += intake
    for chain in running:
        notices += _of_running(chain)
    notices += [_of_failed(chain) for chain in ended if chain.chain.state is ChainState.FAILED]
    if known is not None:
        notices += [
            Notice(Weight.WARNING, f"Pilot {pilot.name} on {pilot.host} stopped answering; its jobs were given to others")
            for pilot in known.pilots
            if pilot.state is PilotState.LOST
        ][:3]
    notices.sort(key=lambda notice: notice.weight is not Weight.ERROR)
    return Overview(running, ended, known, notices, templates, waiting, sum(task.running + task.leased for task in tasks))


def notices_of_intake(unmatched: int, ties: list[Tie]) -> list[Notice]:
    found = []
    if unmatched:
        sets = f"{count_text(unmatched, 'data set')} {'fits' if unmatched == 1 else 'fit'} no template"
        found.append(Notice(Weight.WARNING, f"{sets}: nothing processes {'it' if unmatched == 1 else 'them'}", page="unmatched"))
    for tie in ties[:3]:
        both = f"Templates {tie.template} and {tie.rival} have the same priority and match the same data sets"
        found.append(Notice(Weight.WARNING, f"{both}: {tie.template} gets them", page="unmatched"))
    return found


def _of_running(progress: ChainProgress) -> list[Notice]:
    found: list[Notice] = []
    for step in progress.steps:
        task = step.task
        name = f"{progress.chain.template_name} over {progress.chain.dataset_name}, step {step.step.name}"
        if task is not None and task.held:
            wait = "waits" if task.held == 1 else "wait"
            text = f"{name}: {count_text(task.held, 'job')} took several pilots down and {wait} for a decision"
            found.append(Notice(Weight.ERROR, text, task=str(task.uid)))
        elif task is not None and task.failed:
            why = ", ".join(f"{number} × {kind.value.replace('_', ' ')}" for kind, number in task.errors.items())
            text = f"{name}: {count_text(task.failed, 'job')} failed for good" + (f" ({why})" if why else "")
            found.append(Notice(Weight.WARNING, text, task=str(task.uid)))
        elif step.step.reason and not step.step.state.final:
            found.append(Notice(Weight.WARNING, f"{name}: {step.step.reason}", chain=str(progress.chain.uid)))
    return found


def _of_failed(progress: ChainProgress) -> Notice:
    chain = progress.chain
    reason = progress.reason or "no reason was given"
    return Notice(Weight.ERROR, f"{chain.template_name} over {chain.dataset_name} failed: {reason}", chain=str(chain.uid))
