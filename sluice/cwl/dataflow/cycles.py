"""Check that no steps wait for each other."""

from collections.abc import Iterable

from sluice.cwl.documents.workflow import SourcePort, Workflow
from sluice.cwl.reading.findings import Findings, cycle_message


def refuse_cycles(
    workflow: Workflow, sources: Iterable[tuple[str, str, SourcePort]], findings: Findings
) -> None:
    """Report one error for each group of steps that wait for each other, at its first step.

    Args:
        workflow: The workflow.
        sources: Each source of each step as (step, link, source).
        findings: Gets the errors.
    """
    upstream_steps: dict[str, set[str]] = {name: set() for name in workflow.steps}
    for step, _, origin in sources:
        if origin.step is not None:
            upstream_steps[step].add(origin.step)
    reported: set[str] = set()
    for name in workflow.steps:
        cycle = _cycle_from(name, upstream_steps)
        if cycle and not reported & set(cycle):
            reported.update(cycle)
            findings.error(workflow.steps[name].place, cycle_message(cycle))


def _cycle_from(start: str, upstream_steps: dict[str, set[str]]) -> list[str]:
    """Return the shortest cycle from ``start`` back to it, or an empty list."""
    downstream_steps: dict[str, str] = {}
    queue = [start]
    for name in queue:
        for upstream_step in sorted(upstream_steps[name]):
            if upstream_step == start:
                path = [name]
                while path[-1] != start:
                    path.append(downstream_steps[path[-1]])
                return [start, *path[:-1]]
            if upstream_step not in downstream_steps:
                downstream_steps[upstream_step] = name
                queue.append(upstream_step)
    return []
