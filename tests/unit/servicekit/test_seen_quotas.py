"""Test of which quotas a principal may see."""

import pytest

from sluice.contracts.access.access import Role
from sluice.contracts.access.quotas import HolderKind, QuotaHolder
from sluice.servicekit.access.principal import Person
from sluice.servicekit.quotas.router import may_see

PEOPLE = {
    "anna": Person("anna", Role.SHIFT, groups=("ocr",)),
    "admin": Person("admin", Role.ADMIN),
    "nobody": None,
}


@pytest.mark.parametrize(
    ("by", "kind", "name", "is_visible"),
    [
        ("anna", HolderKind.PERSON, "anna", True),
        ("anna", HolderKind.PERSON, "boris", False),
        ("anna", HolderKind.PERSON, "ocr", False),
        ("anna", HolderKind.GROUP, "ocr", True),
        ("anna", HolderKind.GROUP, "anna", False),
        ("anna", HolderKind.GROUP, "everyone", True),
        ("admin", HolderKind.PERSON, "anna", True),
        ("admin", HolderKind.GROUP, "ocr", True),
        ("nobody", HolderKind.PERSON, "anna", True),
        ("nobody", HolderKind.GROUP, "ocr", True),
    ],
)
def test_people_see_the_quotas_of_themselves_and_their_groups(
    by: str, kind: HolderKind, name: str, *, is_visible: bool
) -> None:
    assert may_see(PEOPLE[by], QuotaHolder(kind, name)) is is_visible
