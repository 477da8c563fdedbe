"""Requirements anywhere in a CWL document."""

from typing import Any


def changes_inputs(process: Any) -> bool:
    """Return whether a process or an inner process may change its inputs in place."""
    return _requests(process, "InplaceUpdateRequirement", "inplaceUpdate")


def requests_network(process: Any) -> bool:
    """Return whether a process or an inner process asks for a network.

    An expression that decides it counts as a request.
    """
    return _requests(process, "NetworkAccess", "networkAccess")


def _requests(process: Any, requirement: str, field: str) -> bool:
    """Return whether a value contains a requirement or hint whose ``field`` is set.

    Requirements may be written as a list or by name.
    """
    match process:
        case {"class": name, **fields} if name == requirement:
            return bool(fields.get(field))
        case dict():
            settings = process.get(requirement)
            return bool(settings and settings.get(field)) or any(
                _requests(value, requirement, field) for value in process.values()
            )
        case list():
            return any(_requests(value, requirement, field) for value in process)
    return False
