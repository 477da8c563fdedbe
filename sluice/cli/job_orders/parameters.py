"""Values of ``--param`` and ``--meta``: ``key=value``, as JSON if possible and else as text."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from sluice.cli.job_orders.job_order import REQUIREMENTS_KEY, RUNNER_KEYS, read_job_order
from sluice.contracts.common.bounds import describe_number, find_non_finite
from sluice.contracts.common.key_values import json_or_text
from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.contracts.templates.chain_requirements import DatasetFacts, requires_text, unmet
from sluice.contracts.templates.matching import bind
from sluice.contracts.templates.parameters import (
    describe,
    find_problems,
    find_unknown_fields,
    fits,
)
from sluice.contracts.templates.plan import Plan
from sluice.text.visible_text import quoted


@dataclass(frozen=True, slots=True)
class ParameterInput:
    """Parameters from the command line and from a job order.

    ``texts`` has the values of the command line as the user typed them.
    """

    values: dict[str, Any]
    texts: dict[str, str]

    def without(self, name: str) -> "ParameterInput":
        """Return the parameters without the one of this name."""
        return ParameterInput(
            {key: value for key, value in self.values.items() if key != name}, self.texts
        )

    @property
    def requirements(self) -> Any:
        """The requirements of a job order (``cwl:requirements``), or None."""
        return None if REQUIREMENTS_KEY in self.texts else self.values.get(REQUIREMENTS_KEY)

    def without_requirements(self) -> "ParameterInput":
        """Return the parameters without the requirements of a job order."""
        return self if self.requirements is None else self.without(REQUIREMENTS_KEY)

    def fit_to_plan(
        self, plan: Plan, subject: DatasetFacts, *, files: Collection[str]
    ) -> dict[str, Any]:
        """Return the values of the workflow's parameters.

        A typed value stays text if only text fits (``label=2024``). Null means that no value is
        given, even if text would fit. Keys of a job order that are meant for runners are left out,
        unless the workflow has an input of that name.

        Args:
            plan: The plan of the workflow.
            subject: The data set, to which parameters may be bound.
            files: Parameters whose values are files that are not uploaded yet.

        Raises:
            Unprocessable: Parameters do not fit, or the data set does not meet a requirement of the
                workflow. The findings name all faults.
        """
        self._refuse_requirements(plan)
        values = {name: self._value(plan, name) for name in self._inputs(plan)}
        bound_values, _ = bind(plan, subject.facts)
        placeholders = {name: _placeholder_dataset(plan.parameters[name].type) for name in files}
        non_finite = {
            name: value for name, value in values.items() if find_non_finite(value) is not None
        }
        problems = [
            Finding(message=_describe_non_finite(plan, name, value))
            for name, value in non_finite.items()
        ]
        problems += find_problems(plan, {**bound_values, **values, **placeholders})
        if problems := problems or find_unknown_fields(plan, values):
            raise Unprocessable("the parameters do not fit the workflow", findings=problems)
        if unmet_rules := unmet(plan, subject, {**bound_values, **values}):
            violations = [Finding(message=requires_text([rule])) for rule in unmet_rules]
            raise Unprocessable("the workflow cannot take these data", findings=violations)
        return values

    def _inputs(self, plan: Plan) -> list[str]:
        return [
            name
            for name in self.values
            if name in plan.parameters or name in self.texts or name not in RUNNER_KEYS
        ]

    def _refuse_requirements(self, plan: Plan) -> None:
        """Refuse a job order with requirements, which this command does not apply.

        Raises:
            Unprocessable: The job order has requirements.
        """
        if self.requirements is not None and REQUIREMENTS_KEY not in plan.parameters:
            raise Unprocessable(
                f"the job order's {quoted(REQUIREMENTS_KEY)} cannot be applied to a published"
                " template: write the requirements in the workflow, or run the workflow with"
                " `sluice run`, which applies them"
            )

    def _value(self, plan: Plan, name: str) -> Any:
        value, parameter = self.values[name], plan.parameters.get(name)
        text = self.texts.get(name)
        if value is None or parameter is None or text is None or fits(value, parameter.type):
            return value
        return text if fits(text, parameter.type) else value


def _placeholder_dataset(kind: Any) -> dict[str, str]:
    """Return a placeholder for a data set that does not exist yet."""
    uid = "00000000-0000-0000-0000-000000000000"
    return {"class": "Directory" if kind == "Directory" else "File", "dataset": uid}


def read_parameters(texts: Sequence[str], *, job: Path | None = None) -> ParameterInput:
    """Return the parameters of ``--param`` and of a job order. ``--param`` takes precedence.

    Raises:
        typer.BadParameter: A text has no ``=``, or a key occurs twice.
        Unprocessable: The job order cannot be read.
    """
    texts_by_key = key_texts(texts, option="--param")
    typed = {name: json_or_text(text) for name, text in texts_by_key.items()}
    return ParameterInput({**({} if job is None else read_job_order(job)), **typed}, texts_by_key)


def require_dataset(plan: Plan, template: str, *, has_dataset: bool, how: str) -> None:
    """Check that a data set is given if the template takes one, and only then.

    Args:
        plan: The plan of the template.
        template: The name of the template.
        has_dataset: Whether a data set is given.
        how: How the user gives one to the command, as in "give its files with --input".

    Raises:
        Unprocessable: The data set is missing, or the template takes none.
    """
    if plan.takes_dataset and not has_dataset:
        raise Unprocessable(
            f"template {quoted(template)} needs a data set for its input"
            f" {quoted(plan.data_input)}: {how}"
        )
    if has_dataset and not plan.takes_dataset:
        raise Unprocessable(
            f"template {quoted(template)} takes no data set: all its inputs are parameters, which"
            " are given with --param or --job"
        )


def key_values(texts: Sequence[str], *, option: str) -> dict[str, Any]:
    """Return the values of ``key=value`` texts.

    ``["n=3", "name=run one"]`` becomes ``{"n": 3, "name": "run one"}``.

    Args:
        texts: The texts that the user typed.
        option: The option that they belong to.

    Raises:
        typer.BadParameter: A text has no ``=``, a key occurs twice, or JSON does not know a number
            (``1e999``), which would be stored as null.
    """
    values = {key: json_or_text(text) for key, text in key_texts(texts, option=option).items()}
    for key, value in values.items():
        if find_non_finite(value) is not None:
            raise typer.BadParameter(
                f"{quoted(key)}: {_describe_non_json_number(value)}", param_hint=option
            )
    return values


def key_texts(texts: Sequence[str], *, option: str) -> dict[str, str]:
    """Return the values of ``key=value`` texts as the user typed them.

    Raises:
        typer.BadParameter: A text has no ``=``, or a key occurs twice.
    """
    pairs: dict[str, str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise typer.BadParameter(
                f"{quoted(text)} is not of the form key=value", param_hint=option
            )
        if key in pairs:
            raise typer.BadParameter(f"{quoted(key)} is given twice", param_hint=option)
        pairs[key] = value
    return pairs


def _describe_non_finite(plan: Plan, name: str, value: Any) -> str:
    """Return what is wrong with a parameter that has a number outside JSON."""
    parameter = plan.parameters.get(name)
    if parameter is None or fits("text", parameter.type):
        return f"parameter {quoted(name)}: {_describe_non_json_number(value)}"
    return (
        f"parameter {quoted(name)} ({describe(parameter.type)}): {_format_number(value)} is not"
        " accepted as a number: give a finite number"
    )


def _format_number(value: Any) -> str:
    number = find_non_finite(value)
    return "" if number is None else describe_number(number)


def _describe_non_json_number(value: Any) -> str:
    return (
        f"JSON has no number such as {_format_number(value)}: give a text, in quotes ('key=\"…\"')"
    )
