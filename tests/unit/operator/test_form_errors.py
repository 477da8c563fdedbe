"""Validation of the fields of forms."""

import pytest

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Unprocessable
from wfms.operator.web.framework.form_errors import parse_role


def test_unknown_role_is_refused_with_the_valid_roles() -> None:
    assert parse_role("shift") is Role.SHIFT
    with pytest.raises(Unprocessable) as refused:
        parse_role("boss\u202e")
    assert str(refused.value).startswith(r"'boss\u202e' is not a role: choose one of viewer, ")
