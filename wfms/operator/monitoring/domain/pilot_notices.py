"""Notices of pilots and steps, for which jobs wait."""

from collections.abc import Iterable

from sluice.contracts.chains.attention import Notice, Subject
from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.steps import StepLoad, StepPriority, describe_disabled_step
from sluice.contracts.pilots.pilot_list import Pilot
from wfms.operator.monitoring.domain.notices import (
    describe_waiting_jobs,
    error_notice,
    warning_notice,
)

_PRESENT = frozenset({PilotState.ACTIVE, PilotState.DRAINING})


def report_missing_pilots(pilots: Iterable[Pilot], *, waiting_jobs: int | None) -> list[Notice]:
    """Return a notice if jobs wait and no pilot is present."""
    if not waiting_jobs or any(pilot.state in _PRESENT for pilot in pilots):
        return []
    return [error_notice(f"{describe_waiting_jobs(waiting_jobs)}, and no pilot runs: start one")]


def report_disabled_steps(loads: Iterable[StepLoad]) -> list[Notice]:
    """Return a notice for each disabled step that has waiting jobs."""
    waiting: dict[str, tuple[StepPriority, int]] = {}
    for load in loads:
        if load.priority is not None and load.priority.is_disabled and load.waiting:
            sentence = describe_disabled_step(load.priority)
            waiting[sentence] = (load.priority, waiting.get(sentence, (None, 0))[1] + load.waiting)
    notices = []
    for sentence, (priority, number) in waiting.items():
        template = f" --template {priority.template}" if priority.template else ""
        text = (
            f"{sentence[0].upper()}{sentence[1:]}, and {describe_waiting_jobs(number)}"
            f" (`sluice step enable {priority.step}{template}` enables it)"
        )
        notices.append(warning_notice(text, since=priority.since, page="steps"))
    return notices


def report_lost_pilots(pilots: Iterable[Pilot]) -> list[Notice]:
    """Return notices of lost pilots that did not restart and that nobody has acknowledged."""
    notices = []
    latest_pilots = {
        (pilot.name, pilot.host): pilot
        for pilot in sorted(pilots, key=lambda pilot: pilot.registered_at)
    }
    lost = [
        pilot
        for pilot in latest_pilots.values()
        if pilot.state is PilotState.LOST and pilot.acknowledged is None
    ]
    for pilot in sorted(lost, key=lambda pilot: pilot.seen_at, reverse=True):
        text = (
            f"Pilot {pilot.name} on {pilot.host} stopped answering; its jobs were given to others"
        )
        notices.append(warning_notice(text, id=f"{Subject.PILOT}:{pilot.uid}", since=pilot.seen_at))
    return notices


def report_quarantined_pilots(pilots: Iterable[Pilot]) -> list[Notice]:
    """Return notices of present pilots that fail at steps where others succeed."""
    return [
        warning_notice(
            f"Pilot {pilot.name} on {pilot.host} fails at {', '.join(pilot.quarantined_steps)},"
            " where others succeed: it gets one job of it occasionally, until that succeeds"
            f" (`sluice pilot show {pilot.uid}` says what fails)"
        )
        for pilot in pilots
        if pilot.quarantined_steps and pilot.state in _PRESENT
    ]


def report_troubled_pilots(pilots: Iterable[Pilot]) -> list[Notice]:
    """Return a notice for each present pilot that takes no jobs for its own reason."""
    return [
        error_notice(f"Pilot {pilot.name} on {pilot.host} takes no jobs: {pilot.trouble}")
        for pilot in pilots
        if pilot.trouble and pilot.state in _PRESENT
    ]
