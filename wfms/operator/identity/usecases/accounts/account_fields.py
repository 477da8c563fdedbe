"""Fields of accounts, as they are stored and logged."""

from pydantic import SecretStr

from sluice.contracts.access.owners import EVERYONE
from wfms.operator.context import OperatorContext


async def hash_new_password(context: OperatorContext, password: SecretStr | None) -> str | None:
    """Return the hash of a new password, or None if there is none."""
    if password is None:
        return None
    return await context.passwords.hash_password(password.get_secret_value())


def join_group_names(groups: list[str]) -> str:
    """Return the groups of a person as one text for logs."""
    return ", ".join(groups) or EVERYONE
