"""`sluice login`, `sluice logout` and `sluice whoami`."""

import asyncio
import socket
from typing import Annotated

import typer
from pydantic import SecretStr

from sluice.cli.commands.access.password_prompt import prompt_password
from sluice.cli.errors import plain_errors
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.output import err
from sluice.contracts.access.device_login import DeviceQuestion, NewDeviceLogin
from sluice.contracts.access.people import SignInWithPassword, TokenQuestion
from sluice.network.credentials import (
    TOKEN,
    TOKEN_FILE,
    find_login,
    forget_login,
    keep_login,
    token_for,
)


@with_system
def login(
    system: System,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Your name, if you have a password. Without it, you sign in by a browser.",
        ),
    ] = None,
    *,
    with_token: Annotated[
        bool,
        typer.Option(
            "--with-token", help="Keep a token that you have. It is read from standard input."
        ),
    ] = False,
) -> None:
    """Sign in at a system, so that commands on this machine send requests in your name.

    The command keeps a token of yours in a file that only you can read.

    Without a name, it shows an address and a code: open the address in a browser, on any machine,
    and allow the sign-in there.
    """
    url = system.address()
    if with_token:
        secret = plain_errors(lambda: prompt_password("token"))
    elif name is None:
        secret = _sign_in_by_browser(system, url)
    else:
        secret = _sign_in_by_password(system, name)
    token = secret.get_secret_value().strip()
    me = system.ask(lambda c: c.operator.get_own_account(), token=token)
    plain_errors(lambda: keep_login(url, token))
    system.answer(me, f"you are {me.name}, role {me.role}, at {url}")
    effective_token = plain_errors(lambda: token_for(url))
    if effective_token != token:
        err.print(
            f"note: another token takes precedence here: that of {TOKEN}, of {TOKEN_FILE}, or of a"
            " system that runs in the home folder"
        )


def _sign_in_by_password(system: System, name: str) -> SecretStr:
    """Return a token for a name and a password."""
    credentials = plain_errors(
        lambda: SignInWithPassword(name=name, password=prompt_password(), label=_label())
    )
    # An earlier token is not sent, because it may have ended.
    return system.ask(lambda c: c.operator.sign_in(credentials), token="").secret


def _sign_in_by_browser(system: System, url: str) -> SecretStr:
    """Return a token that somebody grants in a browser (RFC 8628)."""
    new = NewDeviceLogin(label=_label())

    async def wait(connection: Connection) -> SecretStr:
        device_login = await connection.operator.begin_device_login(new)
        err.print(
            f"open {url}{device_login.verification_uri_complete} in a browser, on any machine, and"
            f" confirm the sign-in if the page shows {device_login.user_code}",
            soft_wrap=True,
        )
        question = DeviceQuestion(device_code=device_login.device_code)
        while True:  # until somebody has decided, or the request has ended
            answer = await connection.operator.get_device_login(question)
            if answer.given is not None:
                return answer.given.secret
            await asyncio.sleep(device_login.interval)

    return system.ask(wait, token="")


def _label() -> str:
    return f"sluice login, {socket.gethostname()}"[:100]


@with_system
def logout(
    system: System,
    *,
    everywhere: Annotated[
        bool,
        typer.Option("--everywhere", help="End your sessions in all browsers, too. Tokens stay."),
    ] = False,
) -> None:
    """Revoke the token that `sluice login` keeps for a system, and delete it.

    The token of a system that runs in the home folder stays.
    """
    url = system.address()
    if everywhere:
        system.ask(lambda c: c.operator.end_sessions())
    token = find_login(url)
    if token is None:
        system.answer({"url": url, "signed_in": False}, f"you were not signed in at {url}")
        return
    question = TokenQuestion(token=SecretStr(token))
    forget_login(url)
    system.ask(lambda c: c.operator.revoke_found_token(question), token="")
    system.answer({"url": url, "signed_in": False}, f"you are no longer signed in at {url}")


@with_system
def whoami(system: System) -> None:
    """Show your name, role and groups at a system."""
    me = system.ask(lambda c: c.operator.get_own_account())
    groups = f", in {', '.join(me.groups)}" if me.groups else ""
    system.answer(me, f"{me.name}, role {me.role}{groups}")
