"""The commands `sluice user …`."""

from typing import Annotated

import typer

from sluice.cli.commands.access.password_prompt import prompt_password
from sluice.cli.commands.access.quotas import (
    Chains,
    Data,
    Files,
    Waiting,
    parse_quotas,
    quotas_text,
)
from sluice.cli.errors import plain_errors
from sluice.cli.system import System, with_system
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import print_json, print_table
from sluice.contracts.access.access import Role
from sluice.contracts.access.people import Account, AccountChange, NewAccount, NewPassword
from sluice.contracts.access.quotas import SetQuotas

app = typer.Typer(
    no_args_is_help=True, help="Accounts of people, with their roles, groups and quotas."
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the account.")]
RoleArgument = Annotated[
    Role, typer.Argument(help="The role. Each role may do what the roles before it may, and more.")
]


@app.command("add")
@with_system
def add(
    system: System,
    name: NameArgument,
    *,
    role: Annotated[Role, typer.Option(help="The role of the person.")] = Role.VIEWER,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="GROUP",
            help="A group of the person. Objects that the person creates belong to the first.",
        ),
    ] = None,
    no_password: Annotated[
        bool,
        typer.Option(
            "--no-password",
            help="The person signs in only with tokens, which administrators create.",
        ),
    ] = False,
) -> None:
    """Create an account. Its password is asked for, or read from standard input."""
    password = None if no_password else plain_errors(lambda: prompt_password(twice=True))
    new = plain_errors(
        lambda: NewAccount(name=name, role=role, password=password, groups=group or [])
    )
    account = system.ask(lambda c: c.operator.add_account(new))
    system.answer(account, f"{account.name} is {account.role}")


@app.command("list")
@with_system
def list_users(system: System) -> None:
    """List accounts, with their roles and groups."""
    accounts = system.ask(lambda c: c.operator.list_accounts()).accounts
    if system.as_json:
        print_json(accounts)
        return
    print_table(
        ["name", "role", "groups", "password", "since", "disabled"],
        [_row(account) for account in accounts],
        empty="no accounts",
    )


@app.command("role")
@with_system
def set_role(system: System, name: NameArgument, role: RoleArgument) -> None:
    """Give a person another role, which takes effect at once."""
    _change(system, name, AccountChange(role=role), f"{name} is {role}")


@app.command("groups")
@with_system
def set_groups(
    system: System,
    name: NameArgument,
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GROUP",
            help="The groups. Without any, the person is in no group but everyone.",
        ),
    ] = None,
) -> None:
    """Set the groups of a person.

    What the person creates belongs to the first group, unless the person names another one.
    """
    change = plain_errors(lambda: AccountChange(groups=groups or []))
    group_names = ", ".join(groups or []) or "no group but everyone"
    _change(system, name, change, f"{name} is in {group_names}")


@app.command("disable")
@with_system
def disable(system: System, name: NameArgument) -> None:
    """Disable an account: its sessions end, and its tokens are no longer valid."""
    _change(system, name, AccountChange(disabled=True), f"{name} is disabled")


@app.command("enable")
@with_system
def enable(system: System, name: NameArgument) -> None:
    """Enable a disabled account. Its tokens that have not ended are valid again."""
    _change(system, name, AccountChange(disabled=False), f"{name} may sign in again")


@app.command("password")
@with_system
def set_password(
    system: System,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Another person (administrators only).")
    ] = None,
) -> None:
    """Change your password, or that of another person.

    Open sessions end, and tokens stay. Without a terminal, the passwords are lines of standard
    input: the old one (only for your own password), then the new one.
    """
    if name is not None:
        new = plain_errors(
            lambda: AccountChange(password=prompt_password("new password", twice=True))
        )
        _change(system, name, new, f"the password of {name} was changed")
        return
    own = plain_errors(
        lambda: NewPassword(
            old=prompt_password("old password"), new=prompt_password("new password", twice=True)
        )
    )
    changed = system.ask(lambda c: c.operator.change_password(own))
    system.answer(changed, "your password was changed")


@app.command("quota")
@with_system
def quota(
    system: System,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Another person (administrators only).")
    ] = None,
    *,
    chains: Chains = None,
    data: Data = None,
    files: Files = None,
    waiting: Waiting = None,
) -> None:
    """Show how much of your quotas you use, or another person does, or set the quotas.

    They count what the person has created. Values that are not given stay.
    """
    quotas = parse_quotas(chains=chains, data=data, files=files, waiting=waiting)
    if quotas and name is None:
        raise typer.BadParameter("give the name of a person", param_hint="NAME")
    new = plain_errors(lambda: SetQuotas.model_validate(quotas))
    person = system.ask(
        lambda c: (
            c.operator.set_person_quotas(name, new)
            if quotas and name is not None
            else c.operator.get_own_quotas()
            if name is None
            else c.operator.get_person_quotas(name)
        )
    )
    system.answer(person, f"{person.name} has {quotas_text(person)}")


def _change(system: System, name: str, change: AccountChange, sentence: str) -> None:
    system.answer(system.ask(lambda c: c.operator.change_account(name, change)), sentence)


def _row(account: Account) -> tuple[object, ...]:
    disabled = local_time(account.disabled_at)
    password = "yes" if account.has_password else "no"
    groups = ", ".join(account.groups)
    return (
        account.name,
        account.role.value,
        groups,
        password,
        local_time(account.created_at),
        disabled,
    )
