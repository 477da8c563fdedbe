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
from sluice.storage import location_of

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
_TOO_MUCH = frozenset(
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


class NeedsFullReader(Exception):
    """Only cwltool can read this, perhaps only to say what is wrong."""


def read_simple(
    process: Path, behind: Sequence[str] = ()
) -> tuple[dict[str, Any], InvocationNeeds]:
    """Return the invocation with local files, and its needs.

    Args:
        process: The file of the tool.
        behind: The arguments after the process.

    Raises:
        NeedsFullReader: Only cwltool can read the tool or its job order.
    """
    order = _order_in(behind)
    tool, given = _read(process), _read(order) if order is not None else {}
    requirements = _requirements_of(tool)
    needs = _needs_of(requirements)
    for text in _keys_and_classes(tool):
        if text in _TOO_MUCH or text in ("File", "Directory"):
            raise NeedsFullReader(text)
    if any(":" in key for key in tool):
        raise NeedsFullReader("fields of other namespaces")
    if any(
        text in _TOO_MUCH or ":" in text or text == "Directory" for text in _keys_and_classes(given)
    ):
        raise NeedsFullReader("the order")
    _require_inputs(tool, given)
    return {
        "process": tool,
        "order": _placed(given, order.resolve().parent if order is not None else Path()),
    }, needs


def _order_in(behind: Sequence[str]) -> Path | None:
    match behind:
        case []:
            return None
        case [str() as order] if not order.startswith("-"):
            return Path(order)
    raise NeedsFullReader("inputs as options")


def _require_inputs(tool: dict[str, Any], given: dict[str, Any]) -> None:
    """Require a value for each input.

    Raises:
        NeedsFullReader: A value may be missing. cwltool reports it as other runners do.
    """
    match tool.get("inputs"):
        case dict() as inputs:
            ports = inputs
        case list() as inputs if all(
            isinstance(port, dict) and isinstance(port.get("id"), str) for port in inputs
        ):
            ports = {port["id"].removeprefix("#"): port for port in inputs}
        case _:
            raise NeedsFullReader("inputs")
    for name, port in ports.items():
        written = port if isinstance(port, dict) and "type" in port else {"type": port}
        if given.get(name, written.get("default")) is None and not _optional(written["type"]):
            raise NeedsFullReader(name)


def _optional(cwl_type: Any) -> bool:
    if isinstance(cwl_type, list):
        return any(map(_optional, cwl_type))
    return isinstance(cwl_type, str) and (cwl_type.endswith("?") or cwl_type in ("null", "Any"))


class _Loader(yaml.CSafeLoader):
    """Loads the plain values of YAML 1.2, but no fractions and no ambiguous values.

    A key must not occur twice in a mapping.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as the base class has it

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        if len(set(keys)) < len(keys) or not all(isinstance(key, str) for key in keys):
            raise NeedsFullReader("keys")
        return super().construct_mapping(node, deep)


def _ambiguous(loader: Any, node: Any) -> Any:
    raise NeedsFullReader(str(node.value))


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
_Loader.add_constructor("!ambiguous", _ambiguous)


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            found = yaml.load(file, _Loader)  # noqa: S506 - a safe loader
    except (OSError, yaml.YAMLError) as error:
        raise NeedsFullReader(str(path)) from error
    if not isinstance(found, dict):
        raise NeedsFullReader(str(path))
    return found


def _requirements_of(tool: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the hints and requirements by class.

    Raises:
        NeedsFullReader: This is no tool, or it has other requirements.
    """
    if tool.get("class") != "CommandLineTool" or tool.get("cwlVersion") not in _VERSIONS:
        raise NeedsFullReader("class")
    hints, requirements = _by_class(tool.get("hints")), _by_class(tool.get("requirements"))
    if not set(requirements) <= _REQUIREMENTS or not set(hints) <= _REQUIREMENTS | {
        "DockerRequirement",
        "SoftwareRequirement",
    }:
        raise NeedsFullReader("requirements")
    return {**hints, **requirements}


def _by_class(written: Any) -> dict[str, dict[str, Any]]:
    match written:
        case None:
            return {}
        case dict() if all(isinstance(entry, dict) for entry in written.values()):
            return written
        case list() if all(
            isinstance(entry, dict) and isinstance(entry.get("class"), str) for entry in written
        ):
            return {entry["class"]: entry for entry in written}
    raise NeedsFullReader("requirements")


def _needs_of(requirements: dict[str, dict[str, Any]]) -> InvocationNeeds:
    amounts = requirements.get("ResourceRequirement", {})
    limit = requirements.get("ToolTimeLimit", {}).get("timelimit", 0)
    if not all(
        isinstance(value, int | float)
        for key, value in [*amounts.items(), ("", limit)]
        if key != "class"
    ):
        raise NeedsFullReader("an amount is worked out")
    if limit < 0:
        raise NeedsFullReader("a negative limit")
    return InvocationNeeds.asked(
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


def _placed(value: Any, folder: Path) -> Any:
    """Return ``value`` with absolute locations of its files.

    Raises:
        NeedsFullReader: A file has no location.
    """
    match value:
        case list():
            return [_placed(inner, folder) for inner in value]
        case {"class": "File"} if "contents" not in value:
            path = _path_of(value, folder)
            if not os.path.isfile(path):
                raise NeedsFullReader(path)
            name = value.get("basename") or os.path.basename(path)
            return {"class": "File", "location": location_of(path), "basename": name}
        case dict():
            return {key: _placed(inner, folder) for key, inner in value.items()}
    return value


def _path_of(value: dict[str, Any], folder: Path) -> str:
    """Return the path of a File.

    Its ``path`` is taken literally. Its ``location`` is a reference with escapes.

    Raises:
        NeedsFullReader: The location is not a local path.
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
        raise NeedsFullReader(str(value.get("location")))
    return os.path.normpath(folder / unquote(parts.path))
