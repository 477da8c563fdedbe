"""The principals that may publish templates for all groups, where secrets and data are at stake."""

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.problems import Forbidden
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.access.delegation import current_person
from sluice.text.visible_text import quoted

#: The role that may publish templates of the group ``everyone`` that use secrets or match data.
PUBLISHER = Role.SHIFT


class SecretForAllGroups(Forbidden):
    """A template of the group ``everyone`` that uses secrets needs a higher role."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"template {quoted(name)} uses secrets and belongs to the group {EVERYONE}, which"
            f" requires the role {PUBLISHER}; publish it for a group of yours (--group GROUP)",
            name=name,
        )


def is_publisher() -> bool:
    """Return whether the role of the present request is high enough.

    A token can have a lower role than the account of its person. If sign-in is off, all may
    publish.
    """
    person = current_person()
    return person is None or person.role.includes(PUBLISHER)


def require_may_publish(name: str, plan: Plan, *, group: str) -> None:
    """Check that the principal may publish a template of ``everyone`` that uses secrets.

    Raises:
        SecretForAllGroups: The role of the principal is too low.
    """
    if group == EVERYONE and plan.secrets and not is_publisher():
        raise SecretForAllGroups(name)
