"""Chains and their steps as text."""

from sluice.clientkit.local_times import local_time
from sluice.contracts.chains.chains import (
    Chain,
    ChainCollection,
    ChainStep,
)
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.states import StepState
from sluice.contracts.templates.templates import template_label


def task_name(chain: Chain, step: ChainStep) -> str:
    """Return the name of the task for commands about tasks."""
    return "" if step.task_uid is None else f"{chain.dataset_name}.{step.name}"


def step_reason(step: ChainStep) -> str:
    """Return why a step is in its state."""
    if step.taken_from is not None:
        return f"taken over from chain {step.taken_from}"
    return step.reason or (
        f"{format_count(step.failed_jobs, 'job')} failed" if step.failed_jobs else ""
    )


def template_version(chain: Chain) -> str:
    """Return the name and version of a chain's template."""
    return template_label(chain.template, chain.template_version)


def chain_row(chain: Chain) -> tuple[object, ...]:
    """Return the row of a chain in a list."""
    return (
        chain.uid,
        chain.dataset_name,
        template_version(chain),
        chain.outcome,
        _format_progress(chain),
        local_time(chain.created_at),
    )


def _format_progress(chain: Chain) -> str:
    return f"{sum(step.state is StepState.FINISHED for step in chain.steps)}/{len(chain.steps)}"


def describe_collection(collection: ChainCollection) -> str:
    """Return whether and where an output was collected."""
    if collection.files is not None:
        return f"{format_count(collection.files, 'file')} collected in {collection.name}"
    if not collection.reason:
        return "to be collected"
    return f"not collected in {collection.name}: {collection.reason}"
