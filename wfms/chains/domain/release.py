"""The release rule (invariant 4): which data sets of a chain are no longer needed.

* An intermediate data set is released when the step that writes it and all steps that read it have
  ended. Workflow outputs are not.
* The logs of a step are released with its output data sets, if the plan says so. No job of the step
  may have failed, and it must write no workflow output.
* The first input is released when the whole chain has finished (its output is uploaded), if the
  plan says so. Nothing else may need it, and it must come from outside. It must be a copy, or the
  template itself must say that it is deleted: the user who registers a file may have no other copy.
* Data that a rerun of failed jobs could use stays in a chain that finishes until somebody runs it
  again, acknowledges or discards it. This is the first input, what steps with failed jobs read and
  wrote, and files given as parameters.
* A file that was given as a parameter, to be deleted with the chain, is released when the chain is
  over, in any final state. Nothing else may need it.
* A chain that fails or is canceled releases all intermediate data and outputs, but keeps its first
  input and all logs. If it fails after the upload was requested, it keeps its workflow outputs. If
  it is canceled then, it keeps the outputs that are safe on the output storage or that somebody
  else needs. It releases the others at once, because the DMS would continue uploading them.
* While such a chain is kept for a rerun, it keeps what the rerun could use: outputs of steps that
  did not finish, the data that these steps would have read, workflow outputs, and files given as
  parameters.
* A released data set is deleted when all chains that have it have released it: a rerun takes over
  data sets of the chain before it.
* A discarded chain also releases its outputs and logs once it is over, and its first input as a
  finished chain does. Logs of steps with failed jobs stay, and so do outputs that somebody else
  needs.
* The data sets of a step whose task was never sent are empty and are released, including logs.
"""

from uuid import UUID

from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetType, StepState
from wfms.chains.domain.chain import ChainView, DatasetView, StepView
from wfms.chains.domain.graph import downstream_steps, output_ports, writes_output


def releasable(chain: ChainView) -> list[UUID]:
    """Return the data sets to release now, in the order of the steps, the first input last."""
    order = {step.name: place for place, step in enumerate(chain.plan.steps)}
    released = {
        dataset.uid for dataset in chain.datasets if dataset.status is ChainDatasetStatus.FINISHED
    }
    new: list[UUID] = []
    step_datasets = sorted(
        (dataset for dataset in chain.datasets if dataset.step is not None),
        key=lambda dataset: order[str(dataset.step)],
    )
    for dataset in step_datasets:
        if (
            dataset.port is not None
            and dataset.uid not in released
            and _is_data_done(chain, dataset)
        ):
            new.append(dataset.uid)
            released.add(dataset.uid)
    for dataset in step_datasets:
        if (
            dataset.port is None
            and dataset.uid not in released
            and _are_logs_done(chain, dataset, released)
        ):
            new.append(dataset.uid)
    first = chain.dataset(None, None)
    if first is not None and first.uid not in released and _is_input_done(chain):
        new.append(first.uid)
    if chain.state.final and not chain.retains_rerun_data and not chain.holds_failures:
        new += [
            dataset.uid
            for dataset in chain.datasets
            if dataset.uid in chain.disposable_files and dataset.uid not in released
        ]
    return new


def _is_data_done(chain: ChainView, dataset: DatasetView) -> bool:
    step, port = str(dataset.step), str(dataset.port)
    if not chain.steps[step].state.final:
        return False
    downstream = downstream_steps(chain.plan, step, port)
    if not all(chain.steps[each.name].state.final for each in downstream):
        return False
    if chain.keeps_nothing and dataset.uid not in chain.used:
        return True
    is_output = (step, port) in output_ports(chain.plan)
    if chain.withdrawn and is_output:
        return not dataset.uploaded and dataset.uid not in chain.used
    if (chain.retains_rerun_data or chain.holds_failures) and _is_useful_for_rerun(
        chain, step, port
    ):
        return False
    never_uploads = chain.ending is not None and not chain.upload_requested
    return never_uploads or not is_output


def _is_useful_for_rerun(chain: ChainView, step: str, port: str) -> bool:
    """Return whether a rerun of the chain could take the data set over."""
    if not chain.steps[step].sent or all(
        output.port != port for output in chain.plan.step(step).outputs
    ):
        return False
    step_and_downstream = [
        chain.steps[step],
        *(chain.steps[each.name] for each in downstream_steps(chain.plan, step, port)),
    ]
    return (step, port) in output_ports(chain.plan) or any(
        affected.state is not StepState.FINISHED or _has_failures(affected)
        for affected in step_and_downstream
    )


def _has_failures(step: StepView) -> bool:
    """Return whether jobs of the step failed in this chain.

    Failures of a step that was taken over were decided about when its chain was run again.
    """
    return step.failed_jobs > 0 and step.taken_from is None


def _are_logs_done(chain: ChainView, dataset: DatasetView, released_datasets: set[UUID]) -> bool:
    name = str(dataset.step)
    step = chain.steps[name]
    if not step.state.final:
        return False
    if not step.sent:
        return True
    if chain.keeps_nothing:
        return not step.failed_jobs
    if (
        chain.ending is not None
        or chain.plan.retention.logs == "keep"
        or step.failed_jobs
        or writes_output(chain.plan, name)
    ):
        return False
    outputs = [
        output for output in chain.datasets if output.step == name and output.port is not None
    ]
    return all(output.uid in released_datasets for output in outputs)


def _is_input_done(chain: ChainView) -> bool:
    return (
        (chain.state is ChainState.FINISHED or chain.keeps_nothing)
        and not chain.holds_failures
        and chain.plan.retention.input == "delete"
        and (chain.input_copied or chain.plan.retention.only_copies)
        and chain.input_type is DatasetType.INPUT
        and not chain.input_needed
    )
