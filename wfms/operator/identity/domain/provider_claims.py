"""The identity and role of a person, from the claims of an OpenID provider."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import is_name
from sluice.text.visible_text import quoted
from wfms.operator.identity.domain.errors import ProviderRefused

#: The key that means everybody whom the provider knows, in a mapping of groups.
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


def parse_claims(
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
    claimed_name = claims.get(name_claim)
    name = claimed_name.strip().lower() if isinstance(claimed_name, str) else ""
    if not is_name(name):
        raise ProviderRefused(
            f"it gives no valid name: its {name_claim} is {quoted(name)}, and a name has small"
            " letters, digits and ._@- only"
        )
    claimed_groups = claims.get(groups_claim, [])
    groups = {
        EVERYBODY,
        *(map(str, claimed_groups) if isinstance(claimed_groups, list) else [str(claimed_groups)]),
    }
    matching_roles = [role for group, role in roles.items() if group in groups]
    if not matching_roles:
        raise ProviderRefused(
            f"{name} is in none of the groups that have access: an administrator sets these groups"
            " (SLUICE_OPERATOR_OIDC__ROLES)"
        )
    highest_role = max(matching_roles, key=list(Role).index)
    own_groups = list(
        dict.fromkeys(
            group for provider_group, group in groups_here.items() if provider_group in groups
        )
    )
    return ProviderClaims(subject, name, highest_role, own_groups if groups_here else None)
