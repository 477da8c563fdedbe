"""Which data sets in between give up their files one by one, as soon as those who read them are
done with each, instead of all at the end.

Such a data set is no output of the workflow, was written in this very chain (what a rerun has taken
over belongs to two), and all steps that read it take it as it comes, each by inputs of which a job
gets a file or a group alone. Who needs it as a whole (a merge of everything, what all jobs get, a
step that says ``sluice:flow: dataset``) keeps all of it until the end.
"""

from collections.abc import Mapping
from uuid import UUID

from sluice.contracts.plan import Plan, PlanStep, Source
from wfms.chains.domain.chain import ChainView
from wfms.chains.domain.graph import output_ports, readers


def passing_inputs(
    chain: ChainView, step: PlanStep, sources: Mapping[Source, UUID]
) -> dict[UUID, int]:
    """Of the data sets that the step reads, those that give up their files one by one, with the
    number of steps that read each, sent or not. ``sources``: its data sets."""
    found = {}
    for source in step.sources:
        if source.step is None or chain.steps[source.step].taken_from is not None:
            continue
        who = readers_of_files(chain.plan, source.step, source.port)
        if who:
            found[sources[source]] = who
    return found


def readers_of_files(plan: Plan, step: str, port: str) -> int:
    """How many steps read the files that ``step`` gives at ``port``; 0 where these stay together
    until the end."""
    who = readers(plan, step, port)
    source = Source(step=step, port=port)
    passes = (step, port) not in output_ports(plan) and all(
        reads_by_file(reader, source) for reader in who
    )
    return len(who) if passes else 0


def reads_by_file(reader: PlanStep, source: Source) -> bool:
    """Does a job of it get files of this source alone that no other job of it gets?"""
    given = [read for read in reader.inputs if source in read.sources]
    return reader.takes_as_they_come and all(
        read in reader.inputs_that_come
        and not read.next_sources
        and read.pick is None
        and not read.optional
        for read in given
    )
