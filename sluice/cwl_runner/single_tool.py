"""One tool with its job order, read without cwltool.

The import of cwltool alone takes longer than many tools run.
"""

import os
import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from sluice.cwl_runner.template import InvocationNeeds
from sluice.storage import build_location

_VERSIONS = ("v1.0", "v1.1", "v1.2")
#: Requirements that need nothing of the job order before the job runs.
_REQUIREMENTS = frozenset(
    {
        "EnvVarRequirement",
        "InitialWorkDirRequirement",
        "InlineJavascriptRequirement",
        "NetworkAccess",
        "ResourceRequirement",
        "ShellCommandRequirement",
        "ToolTimeLimit",
        "WorkReuse",
    }
)
#: Keys that only cwltool understands, wherever they are.
_CWLTOOL_ONLY_KEYS = frozenset(
    {
        "secondaryFiles",
        "format",
        "loadListing",
        "$import",
        "$include",
        "$mixin",
        "$graph",
        "$namespaces",
        "$schemas",
    }
)


class CwltoolRequired(Exception):
    """Only cwltool can read the process or its job order, or report what is wrong with them."""


def read_simple_tool(
    process: Path, process_arguments: Sequence[str] = ()
) -> tuple[dict[str, Any], InvocationNeeds]:
    """Return the invocation with local files, and its needs.

    Args:
        process: The file of the tool.
        process_arguments: The arguments after the process.

    Raises:
        CwltoolRequired: Only cwltool can read the tool or its job order.
    """
    order_path = _order_path(process_arguments)
    tool, values = _read(process), _read(order_path) if order_path is not None else {}
    requirements = _read_requirements(tool)
    needs = _read_needs(requirements)
    for text in _keys_and_classes(tool):
        if text in _CWLTOOL_ONLY_KEYS or text in ("File", "Directory"):
            raise CwltoolRequired(text)
    if any(":" in key for key in tool):
        raise CwltoolRequired("fields of other namespaces")
    if any(
        text in _CWLTOOL_ONLY_KEYS or ":" in text or text == "Directory"
        for text in _keys_and_classes(values)
    ):
        raise CwltoolRequired("the order")
    _require_inputs(tool, values)
    return {
        "process": tool,
        "order": _resolve_files(
            values, order_path.resolve().parent if order_path is not None else Path()
        ),
    }, needs


def _order_path(process_arguments: Sequence[str]) -> Path | None:
    match process_arguments:
        case []:
            return None
        case [str() as order] if not order.startswith("-"):
            return Path(order)
    raise CwltoolRequired("inputs as options")


def _require_inputs(tool: dict[str, Any], values: dict[str, Any]) -> None:
    """Require a value for each input.

    Raises:
        CwltoolRequired: A value may be missing. cwltool reports it as other runners do.
    """
    match tool.get("inputs"):
        case dict() as inputs:
            ports = inputs
        case list() as inputs if all(
            isinstance(port, dict) and isinstance(port.get("id"), str) for port in inputs
        ):
            ports = {port["id"].removeprefix("#"): port for port in inputs}
        case _:
            raise CwltoolRequired("inputs")
    for name, port in ports.items():
        declaration = port if isinstance(port, dict) and "type" in port else {"type": port}
        if values.get(name, declaration.get("default")) is None and not _is_optional(
            declaration["type"]
        ):
            raise CwltoolRequired(name)


def _is_optional(cwl_type: Any) -> bool:
    if isinstance(cwl_type, list):
        return any(map(_is_optional, cwl_type))
    return isinstance(cwl_type, str) and (cwl_type.endswith("?") or cwl_type in ("null", "Any"))


class _Loader(yaml.CSafeLoader):
    """Loads the plain values of YAML 1.2, but no fractions and no ambiguous values.

    A key must not occur twice in a mapping.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as the base class has it

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        if len(set(keys)) < len(keys) or not all(isinstance(key, str) for key in keys):
            raise CwltoolRequired("keys")
        return super().construct_mapping(node, deep)


def _refuse_ambiguous_value(loader: Any, node: Any) -> Any:
    raise CwltoolRequired(str(node.value))


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""]
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"-?(?:0|[1-9][0-9]*)\Z"), list("-0123456789")
)
_AMBIGUOUS = re.compile(
    r"[-+]?\.?[_0-9][-+.:_0-9a-fA-FoxTZ]*\Z|[-+]?\.(?:inf|nan)\Z|<<\Z|=\Z", re.IGNORECASE
)
_Loader.add_implicit_resolver("!ambiguous", _AMBIGUOUS, list("-+.0123456789<="))
_Loader.add_constructor("!ambiguous", _refuse_ambiguous_value)


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            document = yaml.load(file, _Loader)  # noqa: S506 - a safe loader
    except (OSError, yaml.YAMLError) as error:
        raise CwltoolRequired(str(path)) from error
    if not isinstance(document, dict):
        raise CwltoolRequired(str(path))
    return document


def _read_requirements(tool: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the hints and requirements by class.

    Raises:
        CwltoolRequired: This is no tool, or it has other requirements.
    """
    if tool.get("class") != "CommandLineTool" or tool.get("cwlVersion") not in _VERSIONS:
        raise CwltoolRequired("class")
    hints, requirements = _by_class(tool.get("hints")), _by_class(tool.get("requirements"))
    if not set(requirements) <= _REQUIREMENTS or not set(hints) <= _REQUIREMENTS | {
        "DockerRequirement",
        "SoftwareRequirement",
    }:
        raise CwltoolRequired("requirements")
    return {**hints, **requirements}


def _by_class(entries: Any) -> dict[str, dict[str, Any]]:
    match entries:
        case None:
            return {}
        case dict() if all(isinstance(entry, dict) for entry in entries.values()):
            return entries
        case list() if all(
            isinstance(entry, dict) and isinstance(entry.get("class"), str) for entry in entries
        ):
            return {entry["class"]: entry for entry in entries}
    raise CwltoolRequired("requirements")


def _read_needs(requirements: dict[str, dict[str, Any]]) -> InvocationNeeds:
    amounts = requirements.get("ResourceRequirement", {})
    limit = requirements.get("ToolTimeLimit", {}).get("timelimit", 0)
    if not all(
        isinstance(value, int | float)
        for key, value in [*amounts.items(), ("", limit)]
        if key != "class"
    ):
        raise CwltoolRequired("an amount is worked out")
    if limit < 0:
        raise CwltoolRequired("a negative limit")
    return InvocationNeeds.from_amounts(
        cores=amounts.get("coresMin", amounts.get("coresMax")),
        ram=amounts.get("ramMin", amounts.get("ramMax")),
        disk=sum(
            amounts.get(f"{name}Min", amounts.get(f"{name}Max", 0)) for name in ("tmpdir", "outdir")
        ),
        time_limit=limit,
    )


def _keys_and_classes(value: Any) -> Any:
    """Yield all keys in a value, and the classes of objects in it."""
    if isinstance(value, dict):
        yield from map(str, value)
        if isinstance(value.get("class"), str):
            yield value["class"]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _keys_and_classes(inner)


def _resolve_files(value: Any, folder: Path) -> Any:
    """Return ``value`` with absolute locations of its files.

    Raises:
        CwltoolRequired: A file has no location.
    """
    match value:
        case list():
            return [_resolve_files(inner, folder) for inner in value]
        case {"class": "File"} if "contents" not in value:
            path = _file_path(value, folder)
            if not os.path.isfile(path):
                raise CwltoolRequired(path)
            name = value.get("basename") or os.path.basename(path)
            return {"class": "File", "location": build_location(path), "basename": name}
        case dict():
            return {key: _resolve_files(inner, folder) for key, inner in value.items()}
    return value


def _file_path(value: dict[str, Any], folder: Path) -> str:
    """Return the path of a File.

    Its ``path`` is taken literally. Its ``location`` is a reference with escapes.

    Raises:
        CwltoolRequired: The location is not a local path.
    """
    if isinstance(value.get("path"), str) and "location" not in value:
        return os.path.normpath(folder / str(value["path"]))
    parts = urlsplit(str(value.get("location") or ""))
    if (
        parts.scheme not in ("", "file")
        or parts.netloc
        or parts.fragment
        or parts.query
        or not parts.path
    ):
        raise CwltoolRequired(str(value.get("location")))
    return os.path.normpath(folder / unquote(parts.path))
