"""Identity and role of a person, from the claims of a provider."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.access.access import Role
from wfms.operator.identity.domain.errors import ProviderRefused
from wfms.operator.identity.domain.provider_claims import ProviderClaims, parse_claims

ROLES = {"crew": Role.SHIFT, "guests": Role.VIEWER}


def read_claims(
    claims: dict[str, Any], roles: dict[str, Role] = ROLES, here: dict[str, str] | None = None
) -> ProviderClaims:
    return parse_claims(
        claims, roles, here or {}, name_claim="preferred_username", groups_claim="groups"
    )


def test_equal_subjects_of_two_providers_are_two_people() -> None:
    claims = {"sub": "1", "preferred_username": "Anna", "groups": "crew"}
    one, other = (read_claims({**claims, "iss": issuer}) for issuer in ("https://a", "https://b"))
    assert (one.name, one.role) == ("anna", Role.SHIFT)
    assert one.subject != other.subject


@given(st.lists(st.sampled_from(["crew", "guests", "others", 7, None])), st.booleans())
def test_group_with_the_highest_role_decides(groups: list[Any], everybody: bool) -> None:
    roles = {**ROLES, "*": Role.SUBMITTER} if everybody else ROLES
    claims = {"iss": "https://a", "sub": "1", "preferred_username": "anna", "groups": groups}
    if not everybody and not {"crew", "guests"} & set(groups):
        with pytest.raises(ProviderRefused, match="in none of the groups"):
            read_claims(claims, roles)
        return
    least = Role.SUBMITTER if everybody else Role.VIEWER
    assert read_claims(claims, roles).role is (Role.SHIFT if "crew" in groups else least)


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 101, "ä", "-a", ["anna"], None, True, 7])
def test_invalid_name_claim_is_refused(name: Any) -> None:
    claims = {"iss": "https://a", "sub": "1", "groups": ["crew"], "preferred_username": name}
    with pytest.raises(ProviderRefused, match="no valid name"):
        read_claims(claims)
