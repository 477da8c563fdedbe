"""Job orders with a made-up value for each input of a workflow."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from scripts.stand_ins.types import choose_type, list_ports, list_suffixes, list_symbols
from sluice.contracts.templates.secondary_files import record_fields, secondary_name

_SIMPLE = {
    "int": 3,
    "long": 3,
    "float": 1.5,
    "double": 1.5,
    "boolean": True,
    "Any": "any",
    "null": None,
}


def make_order(
    workflow: Mapping[str, Any], types: Mapping[str, Any], folder: Path, *, nulls: bool
) -> dict[str, Any]:
    """Return a job order whose files are written to a folder.

    Inputs that have a default are left out, unless it is a file or directory.

    Args:
        workflow: The workflow as plain JSON.
        types: The named types.
        folder: The folder for the files.
        nulls: Whether every other optional value is null.

    Raises:
        KeyError: An input has an unknown type.
    """
    maker = _Maker(types, folder, nulls)
    order: dict[str, Any] = {}
    for name, port in list_ports(workflow.get("inputs")):
        default = port.get("default")
        if default is None or (isinstance(default, dict) and "class" in default):
            value = maker.make(port.get("type"), name, list_suffixes(port))
            if value is not None:
                order[name] = value
    return order


class _Maker:
    def __init__(self, types: Mapping[str, Any], folder: Path, nulls: bool) -> None:
        self._types = types
        self._folder = folder
        self._leave_out = cycle((nulls, False))

    def make(self, declared_type: Any, name: str, suffixes: Sequence[str]) -> Any:
        """Return a value of a type."""
        kind, is_optional = choose_type(declared_type, self._types)
        if is_optional and next(self._leave_out):
            return None
        match kind:
            case {"type": "array", "items": items}:
                value: Any = [self.make(items, f"{name}_{n}", suffixes) for n in (1, 2)]
            case {"type": "record"}:
                value = {
                    field: self.make(part, f"{name}_{field}", [one.pattern for one in patterns])
                    for field, (part, patterns) in record_fields(kind).items()
                }
            case {"type": "enum"}:
                value = list_symbols(kind)[0]
            case "string":
                value = name
            case "File":
                value = self._make_file(f"{name}.txt", suffixes)
            case "Directory":
                value = self._make_directory(name)
            case _:
                value = _SIMPLE[kind]
        return value

    def _make_directory(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        path.mkdir()
        (path / "x.txt").write_text("x\n")
        return {"class": "Directory", "path": str(path)}

    def _make_file(self, name: str, suffixes: Sequence[str]) -> dict[str, Any]:
        paths = [
            self._folder / name,
            *(self._folder / secondary_name(name, each) for each in suffixes),
        ]
        for path in paths:
            path.write_text(f"{path.name}\n")
        file, *secondary = ({"class": "File", "path": str(path)} for path in paths)
        return file | ({"secondaryFiles": secondary} if secondary else {})
