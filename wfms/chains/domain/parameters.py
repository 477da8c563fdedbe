"""Values of a chain's parameters, which were validated before.

They are completed with defaults, and filled into the arguments of each step when it starts.
"""

from collections.abc import Mapping
from typing import Any

from sluice.contracts.chains.chains import FileValue
from sluice.contracts.templates.parameters import argument_value, names_dataset
from sluice.contracts.templates.plan import Plan, PlanStep


def complete(plan: Plan, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return every parameter of the plan that has a value: the given one, or else its default.

    Null means that no value is given (CWL).
    """
    defaults = {
        name: parameter.default
        for name, parameter in plan.parameters.items()
        if parameter.default is not None or not parameter.required
    }
    return {**defaults, **{name: value for name, value in values.items() if value is not None}}


def given_files(plan: Plan, params: Mapping[str, Any]) -> dict[str, FileValue]:
    """Return the files among the values; these must have no ``findings``."""
    return {
        name: FileValue.model_validate(params[name])
        for name in plan.file_parameters
        if params.get(name) is not None
        and (not plan.parameters[name].is_bundle or names_dataset(params[name]))
    }


def arguments(plan: Plan, step: PlanStep, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constant part of the job order of ``step``. Its inputs have the data sets."""
    values = {
        port: argument_value(plan, argument, params) for port, argument in step.arguments.items()
    }
    return {port: None if names_dataset(value) else value for port, value in values.items()}
