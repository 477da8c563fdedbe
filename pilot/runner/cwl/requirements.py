"""Requirements anywhere in a CWL document."""

from typing import Any


def changes_inputs(process: Any) -> bool:
    """Return whether a process or an inner process may change its inputs in place."""
    return _asks_for(process, "InplaceUpdateRequirement", "inplaceUpdate")


def wants_network(process: Any) -> bool:
    """Return whether a process or an inner process asks for a network.

    An expression that decides it counts as a request.
    """
    return _asks_for(process, "NetworkAccess", "networkAccess")


def _asks_for(process: Any, requirement: str, field: str) -> bool:
    """Return whether a value contains a requirement or hint whose ``field`` is set.

    Requirements may be written as a list or by name.
    """
    match process:
        case {"class": name, **fields} if name == requirement:
            return bool(fields.get(field))
        case dict():
            asked = process.get(requirement)
            return bool(asked and asked.get(field)) or any(
                _asks_for(value, requirement, field) for value in process.values()
            )
        case list():
            return any(_asks_for(value, requirement, field) for value in process)
    return False
