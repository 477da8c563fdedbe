"""The intermediate data sets whose files are released one by one.

Each file is released as soon as all downstream steps are done with it, instead of all files at the
end. The data set must be no workflow output and must be written in this very chain. (A data set
that a rerun took over belongs to two chains.) All its downstream steps must stream it, each by
inputs that give each job its own file or group.

A step that needs the whole data set keeps all of it until the end. Such a step merges everything,
gives the data set to all jobs, or says ``sluice:flow: dataset``.
"""

from collections.abc import Mapping
from uuid import UUID

from sluice.contracts.templates.plan import Plan, PlanStep, Source
from wfms.chains.domain.chain import ChainView
from wfms.chains.domain.graph import downstream_steps, output_ports


def early_released_inputs(
    chain: ChainView, step: PlanStep, sources: Mapping[Source, UUID]
) -> dict[UUID, int]:
    """Return the data sets read by the step whose files are released one by one.

    Args:
        chain: The chain.
        step: The step that reads.
        sources: The data sets of its sources.

    Returns:
        The number of steps that read each data set, whether their tasks were sent or not.
    """
    downstream_counts = {}
    for source in step.sources:
        if source.step is None or chain.steps[source.step].taken_from is not None:
            continue
        count = count_downstream_steps(chain.plan, source.step, source.port)
        if count:
            downstream_counts[sources[source]] = count
    return downstream_counts


def count_downstream_steps(plan: Plan, step: str, port: str) -> int:
    """Return how many steps read ``port`` of ``step``; 0 if its files are kept until the end."""
    steps = downstream_steps(plan, step, port)
    source = Source(step=step, port=port)
    passes = (step, port) not in output_ports(plan) and all(
        reads_by_file(downstream, source) for downstream in steps
    )
    return len(steps) if passes else 0


def reads_by_file(step: PlanStep, source: Source) -> bool:
    """Return whether each job of the step gets files of this source that no other job gets."""
    step_inputs = [read for read in step.inputs if source in read.sources]
    return step.streams(source) and all(
        not read.next_sources and read.pick is None and not read.optional for read in step_inputs
    )
