"""Checks of the values of a template's parameters.

The chain service refuses wrong values. Clients check them before they upload files.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from sluice.contracts.chains.chains import FileValue
from sluice.contracts.common.problems import Finding
from sluice.contracts.common.wording import did_you_mean, validation_sentence
from sluice.contracts.data.asset_refs import AssetRef, is_asset
from sluice.contracts.templates.plan import Constant, Parameter, ParameterRef, Plan, PlanStep
from sluice.contracts.templates.scatters import unequal_lists
from sluice.contracts.templates.secondary_files import record_fields
from sluice.text.identifiers import local_name
from sluice.text.visible_text import quoted


def find_problems(plan: Plan, values: Mapping[str, Any]) -> list[Finding]:
    """Return what is wrong with the parameter values of a chain.

    These are unknown names, missing required values, wrong types, and lists that do not fit
    together.
    """
    problems = [
        Finding.about_parameter(name, _unknown(plan, name))
        for name in values
        if name not in plan.parameters
    ]
    for name in plan.parameters:
        if (problem := _find_problem(plan, name, values.get(name))) is not None:
            problems.append(problem)
    lists = [] if problems else [_list_trouble(plan, step, values) for step in plan.steps]
    return [*problems, *(Finding(message=trouble) for trouble in lists if trouble)]


def _find_problem(plan: Plan, name: str, value: Any) -> Finding | None:
    """Return what is wrong with the value of a parameter, or None."""
    parameter, place, trouble = plan.parameters[name], "", ""
    names_asset = name in plan.file_parameters and is_asset(value)
    if names_asset:
        bundles = parameter.entries is not None and name not in plan.assets
        trouble = _asset_trouble(value, bundles=bundles)
    elif value is None:
        if parameter.required and parameter.default is None and name not in plan.assets:
            trouble = f"({describe(parameter.type)}) is required and has no value"
    elif parameter.is_bundle or parameter.entry_per_item:
        place, trouble = _bundle_trouble(value, parameter)
    elif name in plan.dataset_parameters or (name in plan.assets and parameter.type != "File"):
        trouble = _files_trouble(value, asset=name in plan.assets)
    elif not fits(value, parameter.type):
        place, trouble = _misfit(value, parameter.type)
    elif name in plan.file_parameters:
        trouble = _file_trouble(value, str(parameter.type))
    if not trouble:
        return None
    return Finding.about_parameter(name, trouble, place=place, is_sentence=names_asset)


def _list_trouble(plan: Plan, step: PlanStep, values: Mapping[str, Any]) -> str:
    """Return what is wrong with the lists that a step scatters over, or an empty string."""
    lists = {port: argument_value(plan, step.arguments[port], values) for port in step.needs.items}
    for port, items in lists.items():
        if not isinstance(items, list):
            return (
                f"step {quoted(step.name)} scatters over {quoted(port)}, whose value is not a list"
            )
    sizes = {port: len(items) for port, items in lists.items()}
    return "" if step.cross else unequal_lists(step.name, sizes)


def argument_value(plan: Plan, argument: ParameterRef | Constant, params: Mapping[str, Any]) -> Any:
    """Return the value of a step's argument.

    A parameter whose value is null has its default, as in CWL.

    Args:
        plan: The plan of the template.
        argument: The argument of the step.
        params: The values of the chain's parameters.
    """
    if isinstance(argument, Constant):
        return argument.value
    if params.get(argument.name) is not None:
        return params[argument.name]
    parameter = plan.parameters.get(argument.name)
    return None if parameter is None else parameter.default


def _unknown(plan: Plan, name: str) -> str:
    """Return what is wrong with a value whose parameter the template does not have."""
    if name in plan.secrets:
        secret = plan.secrets[name].name
        return (
            f"cannot be given: its value is the secret {quoted(secret)}, which"
            f" `sluice secret set {secret}` sets"
        )
    listed = ", ".join(
        f"{other} ({', '.join(filter(None, (describe(parameter.type), need(parameter))))})"
        for other, parameter in sorted(plan.parameters.items())
    )
    suggestion = did_you_mean(name, plan.parameters)
    return f"is unknown{suggestion}; the workflow has {listed or 'none'}"


def need(parameter: Parameter) -> str:
    """Return whether a parameter is optional or has to be given. With a default, it is neither."""
    if parameter.default is not None:
        return ""
    return "has to be given" if parameter.required else "optional"


def _file_trouble(value: Mapping[str, Any], kind: str) -> str:
    """Return what is wrong with a file or directory; ``kind`` is its CWL class."""
    try:
        FileValue.model_validate(value)
    except ValidationError:
        example = (
            f'{{"class": "{kind}", "dataset": UID, "retention": "keep" or "delete"}}, naming a data'
            f" set of one {kind.lower()}"
        )
        return f"is a {kind.lower()}, which is given as {example}; retention may be left out (keep)"
    return ""


def names_dataset(value: Any) -> bool:
    """Return whether the value of a parameter stands for a data set."""
    return (
        isinstance(value, Mapping)
        and value.get("class") in ("File", "Directory")
        and "dataset" in value
    )


def names_bundles(value: Any) -> bool:
    """Return whether the value of a parameter stands for a data set of bundles."""
    return names_dataset(value) and value.get("bundle") is True


def _bundle_trouble(value: Any, parameter: Parameter) -> tuple[str, str]:
    """Return where and what is wrong with a value that may have files in it, or empty strings."""
    trouble = ""
    if names_dataset(value):
        trouble = _file_trouble(value, "File")
    elif parameter.entry_per_item:
        trouble = (
            'is a list with files in it, and is given as {"class": "File", "dataset": UID}, naming'
            " a data set with a bundle for each item, as `sluice run --job` makes it"
        )
    elif not fits(value, parameter.type):
        return _misfit(value, parameter.type)
    elif _names_files(value):
        trouble = (
            'has files in it, and is given as {"class": "File", "dataset": UID}, naming a data set'
            " of one bundle, as `sluice run --job` makes it"
        )
    return "", trouble


def _names_files(value: Any) -> bool:
    """Return whether a value contains a File or a Directory."""
    match value:
        case {"class": "File" | "Directory"}:
            return True
        case dict():
            return any(map(_names_files, value.values()))
        case list():
            return any(map(_names_files, value))
    return False


def _asset_trouble(value: str, *, bundles: bool) -> str:
    """Return what is wrong with the name of an asset, or an empty string.

    ``bundles`` says that the parameter takes bundles. A file of an asset is not a bundle.
    """
    if bundles:
        return (
            "takes a directory, or files with secondary files, not an asset: the template can"
            " bind an asset to a parameter of type Directory (sluice:bind)"
        )
    try:
        AssetRef.read(value)
    except ValidationError as error:
        why = validation_sentence(error.errors()[0])
        return f"{quoted(value)} is not an asset such as asset:NAME or asset:NAME@3: {why}"
    return ""


def _files_trouble(value: Any, *, asset: bool) -> str:
    """Return what is wrong with a value that stands for several files, or an empty string.

    These are all files of a data set, or only those of an asset.
    """
    try:
        FileValue.model_validate(value)
    except ValidationError:
        if asset:
            return "takes the files of an asset, which is given as asset:NAME or asset:NAME@VERSION"
        return (
            'takes the files of a data set, which is given as {"class": "File", "dataset": UID,'
            ' "retention": "keep" or "delete"}; retention may be left out (keep)'
        )
    return ""


def fits(value: Any, kind: Any) -> bool:
    """Return whether a value has a CWL type.

    Types that are defined elsewhere, by name, are left to the check of the tool.
    """
    fine = True
    match kind:
        case list():
            fine = any(fits(value, alternative) for alternative in kind)
        case {"type": "array", "items": items}:
            fine = isinstance(value, list) and all(fits(item, items) for item in value)
        case {"type": "enum", "symbols": symbols}:
            fine = isinstance(value, str) and value in {local_name(symbol) for symbol in symbols}
        case {"type": "record", **record}:
            fine = isinstance(value, dict) and all(
                fits(value.get(name), field) for name, field in _fields(record)
            )
        case {"type": inner}:
            fine = fits(value, inner)
        case str() if kind.endswith("?"):
            fine = value is None or fits(value, kind[:-1])
        case str() if kind.endswith("[]"):
            fine = isinstance(value, list) and all(fits(item, kind[:-2]) for item in value)
        case str() if kind in _BASIC:
            fine = _BASIC[kind](value)
    return fine


def _misfit(value: Any, kind: Any) -> tuple[str, str]:
    """Return the field of a record that does not fit its type, and what is wrong with it.

    The field is empty if the value is no record.
    """
    place, expected, actual = _innermost_misfit(value, kind)
    if "." not in place:
        return "", f"must be {describe(kind)}, not {quoted(value)}"
    field = place.removeprefix(".")
    if actual is None:
        return field, f"({describe(expected)}) is required and has no value"
    return field, f"must be {describe(expected)}, not {quoted(actual)}"


def _innermost_misfit(value: Any, kind: Any) -> tuple[str, Any, Any]:
    """Return the place, type and value of the innermost part that does not fit.

    The place consists of fields (``.a``) and numbers of list items (``[0]``).
    """
    for place, part, inner in _parts(value, kind):
        if not fits(part, inner):
            below, expected, actual = _innermost_misfit(part, inner)
            return place + below, expected, actual
    return "", kind, value


def find_unknown_fields(plan: Plan, values: Mapping[str, Any]) -> list[Finding]:
    """Return a finding for each field of the values that its record type does not have.

    Args:
        plan: The plan of the template.
        values: Values of parameters, which fit their types.
    """
    return [
        Finding.about_parameter(name, problem, place=place)
        for name, value in values.items()
        if name in plan.parameters and not names_dataset(value)
        for place, problem in _unknown_fields(value, plan.parameters[name].type)
    ]


def _unknown_fields(value: Any, kind: Any, place: str = "") -> list[tuple[str, str]]:
    """Return each field of the value that its record type does not have, and what is wrong.

    Args:
        value: The value, which fits the type.
        kind: The CWL type.
        place: The place of the value in a parameter.
    """
    match kind:
        case list():
            alternatives = [
                _unknown_fields(value, each, place) for each in kind if fits(value, each)
            ]
            return min(alternatives, key=len, default=[])
        case {"type": "record", "fields": _, **_others} if isinstance(value, dict):
            fields = dict(_fields(kind))
            problems = [
                (
                    f"{place}.{name}".removeprefix("."),
                    f"is unknown{did_you_mean(name, fields)}; it is {describe(kind)}",
                )
                for name in value
                if name not in fields
            ]
        case {"type": dict() | list() as inner}:
            return _unknown_fields(value, inner, place)
        case _:
            problems = []
    for below, part, inner in _parts(value, kind):
        problems += _unknown_fields(part, inner, place + below)
    return problems


def _parts(value: Any, kind: Any) -> list[tuple[str, Any, Any]]:
    """Return the place, value and type of each field or item that the type describes."""
    match kind:
        case list():
            others = [each for each in kind if each != "null"]
            return _parts(value, others[0]) if len(others) == 1 else []
        case {"type": "array", "items": items} if isinstance(value, list):
            return [(f"[{number}]", item, items) for number, item in enumerate(value)]
        case {"type": "record", **record} if isinstance(value, dict):
            return [(f".{name}", value.get(name), field) for name, field in _fields(record)]
        case {"type": "array" | "record" | "enum"}:
            return []
        case {"type": inner}:
            return _parts(value, inner)
    return []


def _fields(record: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """Return the name and type of each field of a record type."""
    return [(name, kind) for name, (kind, _) in record_fields(record).items()]


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
    """Return a CWL type in words."""
    match kind:
        case list():
            return " or ".join(describe(alternative) for alternative in kind)
        case {"type": "array", "items": items}:
            return f"a list of {describe(items)}"
        case {"type": "enum", "symbols": symbols}:
            return f"one of {', '.join(local_name(symbol) for symbol in symbols)}"
        case {"type": "record", **record}:
            fields = ", ".join(f"{name} ({describe(field)})" for name, field in _fields(record))
            return f"a record of {fields}" if fields else "a record"
        case {"type": inner}:
            return describe(inner)
    return str(kind)
