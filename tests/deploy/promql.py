"""Compare expressions of rules and panels with the metrics that services export."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import promql_parser as promql

from scripts.docs.metrics import list_metrics
from sluice.contracts.access.services import SERVICES, short_name
from sluice.contracts.common.states import (
    AttemptOutcome,
    DatasetState,
    ErrorClass,
    JobState,
    PilotState,
    StepState,
    StorageType,
    TaskState,
    WatchKind,
)
from sluice.contracts.messaging.queues import QUEUES

#: Labels that Prometheus adds to every series, and series of Prometheus itself.
COMMON_LABELS = frozenset({"job", "instance"})
PROMETHEUS_SERIES = {
    "up": frozenset[str](),
    "ALERTS": frozenset({"alertname", "alertstate", "severity"}),
}

#: Possible values of labels; labels that are not listed may have any value.
VALUES: dict[str, Iterable[str]] = {
    "job": [short_name(service) for service in SERVICES],
    "queue": QUEUES,
    "dependency": ["database", "transport"],
    "error": ErrorClass,
    "kind": WatchKind,
    "type": StorageType,
    "alertstate": ["pending", "firing"],
}
#: Values of ``state`` and ``outcome``, by metric.
STATES: dict[str, type[StrEnum]] = {
    "sluice_attempts_total": AttemptOutcome,
    "sluice_jobs": JobState,
    "sluice_tasks": TaskState,
    "sluice_tasks_ended_total": TaskState,
    "sluice_pilots": PilotState,
    "sluice_steps": StepState,
    "sluice_datasets": DatasetState,
    "sluice_datasets_halted": DatasetState,
    "sluice_datasets_failing": DatasetState,
}


@dataclass(frozen=True, slots=True)
class Series:
    labels: frozenset[str]
    jobs: frozenset[str]


@cache
def list_series() -> Mapping[str, Series]:
    """Map each series to its labels and the services that export it."""
    series_by_name: dict[str, Series] = {
        name: Series(labels | COMMON_LABELS, frozenset(VALUES["job"]))
        for name, labels in PROMETHEUS_SERIES.items()
    }
    for service in SERVICES:
        for metric in list_metrics(service):
            for name in metric.series:
                labels = (
                    metric.labels if name.endswith(("_sum", "_count")) else metric.series_labels
                )
                jobs = series_by_name[name].jobs if name in series_by_name else frozenset()
                series_by_name[name] = Series(
                    frozenset(labels) | COMMON_LABELS, jobs | {short_name(service)}
                )
    return series_by_name


def find_unknown_names(expression: str) -> Iterator[str]:
    """Find metrics and labels of an expression that no service has."""
    try:
        tree = promql.parse(expression)
    except ValueError as error:
        yield f"{expression}: {error}"
        return
    for node in list_nodes(tree):
        if isinstance(node, promql.VectorSelector):
            yield from (f"{expression}: {sentence}" for sentence in _check_selector(node))
        if isinstance(node, promql.AggregateExpr) and node.modifier is not None:
            unknown = set(node.modifier.labels) - list_labels(node.expr)
            yield from (
                f"{expression}: {node.prettify()} has no label {label}" for label in sorted(unknown)
            )


def list_nodes(tree: Any) -> Iterator[Any]:
    yield tree
    for part in ("lhs", "rhs", "expr", "vector_selector"):
        if (inner := getattr(tree, part, None)) is not None:
            yield from list_nodes(inner)
    for argument in getattr(tree, "args", []):
        yield from list_nodes(argument)


def _check_selector(node: Any) -> Iterator[str]:
    metric = list_series().get(node.name)
    if metric is None:
        yield f"no service exports {node.name}"
        return
    for matcher in node.matchers.matchers:
        allowed = (
            STATES.get(node.name)
            if matcher.name in {"state", "outcome"}
            else VALUES.get(matcher.name)
        )
        if matcher.name == "job":
            allowed = metric.jobs
        if matcher.name not in metric.labels:
            yield f"{node.name} has no label {matcher.name}"
        elif allowed is not None:
            texts = matcher.value.split("|")
            yield from (
                f"{matcher.name} of {node.name} is never {text}"
                for text in texts
                if not any(re.fullmatch(text, one) for one in allowed)
            )


def list_labels(tree: Any) -> frozenset[str]:
    """Return the labels of the result of an expression."""
    match tree:
        case promql.VectorSelector():
            label_names = (
                list_series()[tree.name].labels
                if tree.name and tree.name in list_series()
                else COMMON_LABELS
            )
        case promql.AggregateExpr():
            label_names = _list_labels_of_aggregation(tree)
        case promql.BinaryExpr() if str(tree.op) == "or":
            label_names = list_labels(tree.lhs) & list_labels(tree.rhs)
        case promql.BinaryExpr():
            label_names = list_labels(
                tree.rhs if isinstance(tree.lhs, promql.NumberLiteral) else tree.lhs
            )
        case promql.Call():
            label_names = _list_labels_of_call(tree)
        case promql.NumberLiteral() | promql.StringLiteral():
            label_names = frozenset()
        case _:  # Parentheses, ranges and signs.
            label_names = list_labels(getattr(tree, "vector_selector", None) or tree.expr)
    return label_names


def _list_labels_of_aggregation(tree: Any) -> frozenset[str]:
    named = frozenset[str]() if tree.modifier is None else frozenset(tree.modifier.labels)
    without = tree.modifier is not None and tree.modifier.type == promql.AggModifierType.Without
    return list_labels(tree.expr) - named if without else named


def _list_labels_of_call(tree: Any) -> frozenset[str]:
    match tree.func.name:
        case "absent":
            return frozenset(
                one.name for one in tree.args[0].matchers.matchers if one.op == promql.MatchOp.Equal
            )
        case "histogram_quantile":
            return list_labels(tree.args[1]) - {"le"}
        case _:
            return list_labels(tree.args[0])


def find_unknown_labels(expression: str, *texts: str) -> Iterator[str]:
    """Find labels that annotations or legends name and that the result does not have."""
    try:
        label_names = list_labels(promql.parse(expression))
    except ValueError:  # ``find_unknown_names`` reports the error.
        return
    for text in texts:
        named = set(re.findall(r"\{\{\s*\$labels\.(\w+)", text)) | set(
            re.findall(r"\{\{\s*(\w+)\s*\}\}", text)
        )
        yield from (
            f"{text}: {expression} has no label {label}" for label in sorted(named - label_names)
        )
