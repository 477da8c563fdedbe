"""Evaluation of ``sluice:require``.

The chain service refuses chains by these rules. People see the result before they start a chain.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.conditions import Between, Condition
from sluice.contracts.templates.matching import describe_condition, difference, facts_of
from sluice.contracts.templates.plan import Plan


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """The properties of a data set that conditions can test.

    Attributes:
        facts: The result of ``facts_of``.
        bytes: The size. None if it is not known, and is then not tested.
        open: Whether files and bytes may still increase.
    """

    facts: Mapping[str, Any]
    files: int
    bytes: int | None
    open: bool = False

    @classmethod
    def of(cls, dataset: Dataset) -> "DatasetFacts":
        """Return the properties of a data set."""
        is_open = dataset.state is DatasetState.OPEN
        return cls(facts_of(dataset), files=dataset.count_files, bytes=dataset.bytes, open=is_open)


#: The facts for a chain that has values only.
NO_DATASET = DatasetFacts({}, files=0, bytes=0)


def required(plan: Plan) -> dict[str, Condition]:
    """Return the conditions of a plan by subject.

    Subjects are, for example, ``files``, ``meta version`` and ``parameter cut``.
    """
    wants = plan.require
    if wants is None:
        return {}
    sizes = {
        name: condition
        for name, condition in (("files", wants.files), ("bytes", wants.bytes))
        if condition is not None
    }
    parameters = {f"parameter {name}": condition for name, condition in wants.parameters.items()}
    return {
        **sizes,
        **{f"meta {key}": condition for key, condition in wants.meta.items()},
        **parameters,
    }


def unmet(plan: Plan, subject: DatasetFacts, params: Mapping[str, Any]) -> list[str]:
    """Return each condition that does not hold, with the actual value.

    An example is ``files from 10 to ∞, which is 3``. ``params`` includes bound parameters.
    """
    return [*unmet_dataset(plan, subject), *unmet_parameters(plan, params)]


def unmet_dataset(plan: Plan, subject: DatasetFacts) -> list[str]:
    """Return the conditions on the data set that do not hold."""
    if plan.require is None:
        return []
    sizes = {
        "files": (plan.require.files, subject.files),
        "bytes": (plan.require.bytes, subject.bytes),
    }
    broken = [
        _size(name, condition, size, is_open=subject.open)
        for name, (condition, size) in sizes.items()
        if condition is not None and size is not None
    ]
    broken += [
        difference(condition, subject.facts, key, field_name=f"meta {key}")
        for key, condition in plan.require.meta.items()
    ]
    return [sentence for sentence in broken if sentence]


def unmet_parameters(plan: Plan, params: Mapping[str, Any]) -> list[str]:
    """Return the conditions on parameters that do not hold.

    A parameter without a value has its default.
    """
    if plan.require is None:
        return []
    defaults = {name: parameter.default for name, parameter in plan.parameters.items()}
    values = {**defaults, **{name: value for name, value in params.items() if value is not None}}
    broken = [
        difference(condition, values, name, field_name=f"parameter {name}")
        for name, condition in plan.require.parameters.items()
    ]
    return [sentence for sentence in broken if sentence]


def requires_text(broken: list[str]) -> str:
    """Return a sentence such as ``requires files from 10 to ∞, which is 3, and …``."""
    return f"requires {', and '.join(broken)}"


def _size(name: str, condition: Condition, size: int, *, is_open: bool) -> str:
    """Return what is wrong with a size, or an empty string.

    The size of an open data set may grow, so only a minimum that it has reached is sure to hold.
    """
    if is_open and not (isinstance(condition, Between) and condition.maximum is None):
        return (
            f"{name} {describe_condition(condition)}, and the data set is still open:"
            " close it first"
        )
    broken = difference(condition, {name: size}, name)
    return f"{broken} so far: the data set is still open" if broken and is_open else broken
