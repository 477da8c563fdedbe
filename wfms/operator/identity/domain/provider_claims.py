"""The identity and role of a person, from the claims of an OpenID provider."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import is_name
from sluice.text.visible_text import quoted
from wfms.operator.identity.domain.errors import ProviderRefused

#: In a mapping of groups, everybody whom the provider knows.
EVERYBODY = "*"


@dataclass(frozen=True, slots=True)
class ProviderClaims:
    """A person as the provider describes them.

    Attributes:
        subject: The identity, which never changes; the name may.
        groups: Groups of this system; None if the provider does not determine them.
    """

    subject: str
    name: str
    role: Role
    groups: list[str] | None


def known_by(
    claims: Mapping[str, Any],
    roles: Mapping[str, Role],
    groups_here: Mapping[str, str],
    *,
    name_claim: str,
    groups_claim: str,
) -> ProviderClaims:
    """Return the person whom verified claims describe (OpenID Connect Core 1.0, section 2).

    Args:
        claims: The claims of a valid ID token.
        roles: Roles by group of the provider; the highest one counts.
        groups_here: Groups of this system by group of the provider; if empty, accounts have them.
        name_claim: The claim that has the name.
        groups_claim: The claim that has the groups.

    Raises:
        ProviderRefused: The name is not valid, or no group has a role.
    """
    subject = f"{claims.get('iss', '')}|{claims.get('sub', '')}"
    given = claims.get(name_claim)
    name = given.strip().lower() if isinstance(given, str) else ""
    if not is_name(name):
        raise ProviderRefused(
            f"it gives no name that can be taken: its {name_claim} is {quoted(name)}, and a name"
            " has small letters, digits and ._@- only"
        )
    told = claims.get(groups_claim, [])
    groups = {EVERYBODY, *(map(str, told) if isinstance(told, list) else [str(told)])}
    found = [role for group, role in roles.items() if group in groups]
    if not found:
        raise ProviderRefused(
            f"{name} is in none of the groups that may anything here: an administrator of this"
            " system says which (SLUICE_OPERATOR_OIDC__ROLES)"
        )
    most = max(found, key=list(Role).index)
    here = list(dict.fromkeys(group for there, group in groups_here.items() if there in groups))
    return ProviderClaims(subject, name, most, here if groups_here else None)
