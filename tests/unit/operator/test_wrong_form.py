"""Validation of the fields of forms."""

import pytest

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Unprocessable
from wfms.operator.web.framework.wrong_form import role_called


def test_unknown_role_is_refused_with_the_valid_roles() -> None:
    assert role_called("shift") is Role.SHIFT
    with pytest.raises(Unprocessable) as refused:
        role_called("boss\u202e")
    assert str(refused.value).startswith(r"'boss\u202e' is no role: choose one of viewer, ")
