"""Parameters of a chain: checked against the plan when it is made, filled into each step's arguments when it starts."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from sluice.contracts.chains import FileValue
from sluice.contracts.plan import Constant, Parameter, ParameterRef, Plan, PlanStep
from sluice.contracts.problems import Finding


def complete(plan: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of the plan that has a value: as given, else its default."""
    defaults = {name: one.default for name, one in plan.parameters.items() if one.default is not None or not one.required}
    return {**defaults, **given}


def findings(plan: Plan, given: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with the values given: unknown names, missing required ones, wrong basic types."""
    wrong = [
        Finding(message=f"parameter {name!r} is unknown; the workflow has {_names(plan)}")
        for name in given
        if name not in plan.parameters
    ]
    for name, parameter in plan.parameters.items():
        if given.get(name) is None:
            if parameter.required and parameter.default is None:
                wrong.append(Finding(message=f"parameter {name!r} ({describe(parameter.type)}) is required and has no value"))
        elif not fits(given[name], parameter.type):
            wanted = f"must be {describe(parameter.type)}, not {given[name]!r}"
            wrong.append(Finding(message=f"parameter {name!r} {wanted}"))
        elif name in plan.file_parameters and (trouble := _file_trouble(given[name])):
            wrong.append(Finding(message=f"parameter {name!r} {trouble}"))
    return wrong


def given_files(plan: Plan, params: Mapping[str, Any]) -> dict[str, FileValue]:
    """Files among the values, which have no ``findings``."""
    return {name: FileValue.model_validate(params[name]) for name in plan.file_parameters if params.get(name) is not None}


def _file_trouble(value: Mapping[str, Any]) -> str:
    try:
        FileValue.model_validate(value)
    except ValidationError:
        wanted = '{"class": "File", "dataset": UID, "retention": "keep" or "delete"}, naming a data set of one file'
        return f"is a file, which is given as {wanted}; retention may be left out (keep)"
    return ""


def arguments(plan: Plan, step: PlanStep, params: Mapping[str, Any]) -> dict[str, Any]:
    """The constant part of the job order of ``step``."""
    return {port: _value(argument, plan.parameters, params) for port, argument in step.arguments.items()}


def _value(argument: ParameterRef | Constant, known: Mapping[str, Parameter], params: Mapping[str, Any]) -> Any:
    if isinstance(argument, Constant):
        return argument.value
    if argument.name in params:
        return params[argument.name]
    return known[argument.name].default if argument.name in known else None


def _names(plan: Plan) -> str:
    return ", ".join(sorted(plan.parameters)) or "none"


def fits(value: Any, kind: Any) -> bool:
    """Is ``value`` of the CWL type ``kind``? Types defined elsewhere (by name) are left to the tool's own check."""
    fine = True
    match kind:
        case list():
            fine = any(fits(value, one) for one in kind)
        case {"type": "array", "items": items}:
            fine = isinstance(value, list) and all(fits(one, items) for one in value)
        case {"type": "enum", "symbols": symbols}:
            fine = isinstance(value, str) and value in {_local(symbol) for symbol in symbols}
        case {"type": "record"}:
            fine = isinstance(value, dict)
        case {"type": inner}:
            fine = fits(value, inner)
        case str() if kind.endswith("?"):
            fine = value is None or fits(value, kind[:-1])
        case str() if kind.endswith("[]"):
            fine = isinstance(value, list) and all(fits(one, kind[:-2]) for one in value)
        case str() if kind in _BASIC:
            fine = _BASIC[kind](value)
    return fine


def _local(symbol: object) -> str:
    """A symbol without the document's address before it."""
    return str(symbol).rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def _integer(value: Any, bits: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**bits) <= value < 2**bits


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_BASIC: dict[str, Callable[[Any], bool]] = {
    "int": lambda value: _integer(value, 31),
    "long": lambda value: _integer(value, 63),
    "float": _number,
    "double": _number,
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "File": lambda value: isinstance(value, dict) and value.get("class") == "File",
    "Directory": lambda value: isinstance(value, dict) and value.get("class") == "Directory",
}


def describe(kind: Any) -> str:
    """A CWL type in words."""
    match kind:
        case list():
            return " or ".join(describe(one) for one in kind)
        case {"type": "array", "items": items}:
            return f"a list of {describe(items)}"
        case {"type": "enum", "symbols": symbols}:
            return f"one of {', '.join(_local(symbol) for symbol in symbols)}"
        case {"type": inner}:
            return describe(inner)
    return str(kind)
