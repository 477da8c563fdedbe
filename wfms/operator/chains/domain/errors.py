"""Errors of chains, tasks and their data."""

from collections.abc import Sequence

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import (
    Conflict,
    NotFound,
    Unprocessable,
)
from sluice.text.visible_text import quoted
from wfms.operator.errors import MAX_NAMED


class StepUnknown(NotFound):
    """The step does not exist; ``steps`` are the existing names."""

    def __init__(self, step: str, template: str | None, steps: Sequence[str]) -> None:
        where = "any template" if template is None else f"template {quoted(template)}"
        others = ", ".join(steps[:MAX_NAMED]) + (", …" if len(steps) > MAX_NAMED else "")
        hint = f"; steps are: {others}" if steps else ""
        super().__init__(f"there is no step {quoted(step)} in {where}{hint}", step=step)


class DatasetRequired(Unprocessable):
    """The template needs a data set for the input ``data_input``."""

    def __init__(self, template: str, data_input: str) -> None:
        super().__init__(
            f"template {quoted(template)} needs a data set for its input {quoted(data_input)}:"
            " name one (dataset_uid)",
            name=template,
        )


class DatasetUnusable(Conflict):
    """The data set cannot be used in its state."""

    def __init__(self, name: str, state: str) -> None:
        super().__init__(
            f"data set {quoted(name)} is {state}: no chain can use it",
            dataset=name,
            state=state,
        )


class NoOutputs(Conflict):
    """The chain has no outputs to download."""

    def __init__(self, chain: Chain) -> None:
        reason = (
            "its outputs are complete when it has finished"
            if not chain.state.final
            else "it has no outputs"
        )
        super().__init__(
            f"the chain over {chain.dataset_name} is {chain.state}: {reason}",
            chain=chain.uid,
            state=chain.state,
        )


class ChainNotEnded(Conflict):
    """The chain has not ended, so its partial outputs are not available yet."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(
            f"the chain over {chain.dataset_name} is {chain.state}: its outputs can be read"
            " when it has ended",
            chain=chain.uid,
            state=chain.state,
        )


class NoPartialOutputs(Conflict):
    """The outputs of the chain can no longer be read."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(
            f"the chain over {chain.dataset_name} is {chain.state}, and all its data have been"
            " deleted",
            chain=chain.uid,
            state=chain.state,
        )


class LogUnknown(NotFound):
    """The job has no log that can be read."""

    def __init__(self, job: int, reason: str) -> None:
        super().__init__(f"there is no log of job {job}: {reason}", job=job)
