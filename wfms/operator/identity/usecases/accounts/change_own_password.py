"""Change the password of the person who asks for it."""

from sluice.contracts.access.people import (
    Account,
    AccountChange,
    NewPassword,
)
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Connection
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.accounts.change_account import change_account


async def change_own_password(
    context: OperatorContext, person: Person, new: NewPassword
) -> Account:
    """Replace the password of the person and end all their sessions.

    Raises:
        WrongPassword: The old password is wrong.
        TooManySignInAttempts: There were too many attempts.
    """
    await context.password_sign_in.sign_in(
        person.name, new.old.get_secret_value(), _do_nothing, action="says the old password"
    )
    return await change_account(context, person.name, AccountChange(password=new.new), by=person)


async def _do_nothing(connection: Connection, person: Person) -> None:
    """Do nothing after the check of the old password."""
