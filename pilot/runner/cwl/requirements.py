"""What a CWL document asks for, wherever in it."""

from typing import Any


def changes_inputs(process: Any) -> bool:
    """Does a CWL process, or one inside it, ask to change its inputs in place?"""
    return _asks_for(process, "InplaceUpdateRequirement", "inplaceUpdate")


def wants_network(process: Any) -> bool:
    """Does a CWL process, or one inside it, ask for a network, or let an expression decide it?"""
    return _asks_for(process, "NetworkAccess", "networkAccess")


def _asks_for(process: Any, requirement: str, field: str) -> bool:
    """``field``: of the requirement or hint, which may be written in a list or by its name."""
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
