"""Check who may change a period or a run."""

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.access.delegation import current_person


def require_owner(owner: str | None, *, action: str) -> None:
    """Check that the person who asks registered the period or run, or has the role *shift*.

    Args:
        owner: Who registered it; None if that is not known.
        action: The request in words, for the message, such as ``run 7 can be ended``.

    Raises:
        Forbidden: Somebody else registered it.
    """
    person = current_person()
    if person is None or person.role.includes(Role.SHIFT) or person.name == owner:
        return
    permitted = (
        f"people with the role {Role.SHIFT}"
        if owner is None
        else f"{owner} or the role {Role.SHIFT}"
    )
    raise Forbidden(
        f"{action} by {permitted} only: you are {person.name}, with the role {person.role}"
    )
