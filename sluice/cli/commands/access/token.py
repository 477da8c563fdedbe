"""The commands `sluice token …`, for tokens that authenticate requests."""

from typing import Annotated

import typer

from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.system import System, with_system
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, print_json, print_table
from sluice.contracts.access.access import Role
from sluice.contracts.access.people import MAX_DAYS, USUAL_DAYS, NewToken, NewTokenSecret, Token
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.network.credentials import TOKEN, token_for
from sluice.text.visible_text import quoted

app = typer.Typer(
    invoke_without_command=True,
    help="Print the token for a system, for programs that use REST, as in curl"
    ' --header "Authorization: Bearer $(sluice token)". The exit status is 1 if no'
    " token is known.\n\n"
    "The commands manage personal tokens, which have a role and an end.",
)

PersonOption = Annotated[
    str | None,
    typer.Option("--for", metavar="NAME", help="Another person (administrators only)."),
]


@app.callback()
@with_system
def print_token(system: System, ctx: typer.Context) -> None:
    """Print the token for a system, unless another command follows."""
    if ctx.invoked_subcommand is not None:
        return
    url, token = plain_errors(lambda: _get_system_token(system))
    if system.as_json:
        system.answer({"url": url, "token": token}, "")
    else:
        print(token)  # never wrapped, even in a narrow terminal


@app.command("create")
@with_system
def create(
    system: System,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="The purpose of the token.")],
    *,
    role: Annotated[
        Role | None, typer.Option(help="The highest role of the token. The default is your role.")
    ] = None,
    days: Annotated[
        int,
        typer.Option(min=1, max=MAX_DAYS, help="The number of days for which the token is valid."),
    ] = USUAL_DAYS,
    person: PersonOption = None,
) -> None:
    """Create a token, which is shown only once."""
    new = plain_errors(lambda: NewToken(label=label, role=role, days=days, person=person))
    new_token = system.ask(lambda c: c.operator.create_token(new))
    print_new_token(system, new_token)


@app.command("list")
@with_system
def list_tokens(
    system: System,
    *,
    everybodys: Annotated[
        bool, typer.Option("--all", help="List the tokens of all people (administrators only).")
    ] = False,
    ended: Annotated[
        bool, typer.Option("--ended", help="List tokens that are no longer valid, too.")
    ] = False,
    person: PersonOption = None,
) -> None:
    """List tokens: whose they are, what for, until when, and when they were used."""
    tokens = system.ask(
        lambda c: c.operator.list_tokens(person=person, all=everybodys, ended=ended)
    ).tokens
    if system.as_json:
        print_json(tokens)
        return
    print_table(
        ["token", "of", "label", "role", "made", "until", "last used"],
        [_row(token) for token in tokens],
        empty="no token",
    )


@app.command("revoke")
@with_system
@with_confirmation
def revoke(
    system: System,
    confirmation: Confirmation,
    token: Annotated[
        str,
        typer.Argument(
            metavar="TOKEN", help="The id of the token, the beginning of its id, or its label."
        ),
    ],
    *,
    person: PersonOption = None,
) -> None:
    """Revoke a token, so that it is no longer valid."""
    tokens = system.ask(lambda c: c.operator.list_tokens(person=person)).tokens
    match = plain_errors(lambda: _get_token(tokens, token))
    confirmation.require(f"revoke token {match.label} of {match.person}")
    revoked = system.ask(lambda c: c.operator.revoke_token(match.id))
    system.answer(revoked, f"{revoked.label} of {revoked.person} is revoked")


def print_new_token(system: System, new_token: NewTokenSecret) -> None:
    """Print a new token, alone on standard output so that it can be stored."""
    if system.as_json:
        print_json(new_token)
        return
    token = new_token.token
    err.print(
        f"for {token.person} ({token.role}), until {local_time(token.expires_at)}; it is not shown"
        " again:"
    )
    print(new_token.secret.get_secret_value())


def _get_token(tokens: list[Token], text: str) -> Token:
    """Return the token with this label, id or beginning of an id.

    Raises:
        NotFound: No token matches.
        Conflict: Several tokens match.
    """
    matches = [each for each in tokens if each.label == text or str(each.id).startswith(text)]
    if not matches:
        raise NotFound(f"there is no token {quoted(text)}: `sluice token list` shows them")
    if len(matches) > 1:
        several = ", ".join(str(each.id)[:8] for each in matches)
        raise Conflict(
            f"{len(matches)} tokens match {quoted(text)}: give the id of one ({several})"
        )
    return matches[0]


def _row(token: Token) -> tuple[object, ...]:
    last_used = "never" if token.used_at is None else local_time(token.used_at)
    until = local_time(token.expires_at)
    if token.revoked_at is not None:
        until = f"revoked {local_time(token.revoked_at)}"
    created_at = local_time(token.created_at)
    return (
        str(token.id)[:8],
        token.person,
        token.label,
        token.role.value,
        created_at,
        until,
        last_used,
    )


def _get_system_token(system: System) -> tuple[str, str]:
    """Return the address of the system, and the token for it.

    Raises:
        NotAvailable: No token is known.
    """
    url = system.address()
    token = token_for(url)
    if token is None:
        raise NotAvailable(
            f"no token is known for {url}: set {TOKEN}, `sluice login`, or ask as the user who"
            " started it"
        )
    return url, token
