"""`sluice setup`: preparation of the database server and the broker for separate services."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from sluice.cli.errors import plain_errors
from sluice.cli.options import JsonOption
from sluice.clientkit.output import err, out, print_json
from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.settings_sources import InvalidSettings, load_settings
from sluice.setup.logins import (
    SetupSettings,
    backup_login,
    broker_logins,
    database_logins,
    database_urls,
)

app = typer.Typer(
    no_args_is_help=True,
    help="Prepare PostgreSQL and RabbitMQ for the services, from the services' own"
    " settings. Repeating a command is safe.",
)

WaitOption = Annotated[
    float, typer.Option(min=0, help="Seconds to wait for a server that does not answer yet.")
]

#: Seconds between two tries.
PAUSE = 1.0


@app.command("databases")
def databases(
    *,
    admin_url: Annotated[
        str | None,
        typer.Option(
            help="postgresql://… of a superuser. SLUICE_SETUP_ADMIN_URL or a secret file is better."
        ),
    ] = None,
    wait: WaitOption = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Create a login and a database for each service, closed to all other services.

    SLUICE_<SERVICE>_DATABASE_URL names them. If SLUICE_SETUP_BACKUP_URL is set, a login for backups
    is created as well.
    """
    # A client alone has no database driver.
    from sluice.setup.databases import set_up_databases  # noqa: PLC0415

    url, logins, backup = _read_settings(
        lambda: (
            admin_url or load_settings(SetupSettings).admin_url,
            database_logins(),
            backup_login(),
        )
    )
    url = _require_url(url, "--admin-url, SLUICE_SETUP_ADMIN_URL")
    _run_setup(lambda: set_up_databases(url, logins, backup), wait, as_json=as_json)


@app.command("broker")
def broker(
    *,
    management_url: Annotated[
        str | None,
        typer.Option(
            help="http://login:password@host:15672. SLUICE_SETUP_MANAGEMENT_URL or a"
            " secret file is better."
        ),
    ] = None,
    wait: WaitOption = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Create the virtual host, a login for each service with the rights it needs, and all queues.

    SLUICE_<SERVICE>_BROKER_URL names the login and the virtual host.
    """
    # A client alone has no driver for the broker.
    from sluice.setup.broker import set_up_broker  # noqa: PLC0415

    url, logins = _read_settings(
        lambda: (management_url or load_settings(SetupSettings).management_url, broker_logins())
    )
    url = _require_url(url, "--management-url, SLUICE_SETUP_MANAGEMENT_URL")
    _run_setup(lambda: set_up_broker(url, logins), wait, as_json=as_json)


@app.command("resend")
def resend(*, wait: WaitOption = 60.0, as_json: JsonOption = False) -> None:
    """Send recent messages again, after a loss of the broker or a restore of the databases.

    Receivers drop the messages that they have already applied.
    """
    # A client alone has no database driver.
    from sluice.setup.resend import send_again  # noqa: PLC0415

    urls = _read_settings(database_urls)
    _run_setup(
        lambda: send_again(urls), wait, nothing="no message was sent of late", as_json=as_json
    )


@app.command("service-keys")
def service_keys(
    folder: Annotated[Path, typer.Argument(help="The folder for the keys of all services.")],
    *,
    rotate: Annotated[
        bool,
        typer.Option(
            "--rotate",
            help="Create new keys. The old ones stay valid until --forget-old.",
        ),
    ] = False,
    forget_old: Annotated[
        bool,
        typer.Option(
            "--forget-old", help="Remove all old keys. Only the keys that sign now stay valid."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Create the keys by which services authenticate to one another.

    Each service gets NAME.key, and all services get NAME.pub (SLUICE_<SERVICE>_SERVICE_KEYS).
    """
    # A client alone signs nothing.
    from sluice.servicekit.access.service_keys import InvalidKeys  # noqa: PLC0415
    from sluice.setup.service_keys import forget_old_keys, make_keys, rotate_keys  # noqa: PLC0415

    if rotate and forget_old:
        err.print(
            "error: --rotate and --forget-old are two steps: between them, all services read the"
            " new keys"
        )
        raise typer.Exit(2)
    work = rotate_keys if rotate else forget_old_keys if forget_old else make_keys
    try:
        changes = plain_errors(lambda: work(folder))
    except InvalidKeys as error:
        err.print(f"error: {error}")
        raise typer.Exit(2) from None
    if as_json:
        print_json({"changes": changes})
    for line in [] if as_json else changes or ["everything is as it has to be"]:
        out.print(line)


ResultT = TypeVar("ResultT")


def _read_settings(read: Callable[[], ResultT]) -> ResultT:
    """Read settings, or end the command with status 2 if they are wrong."""
    try:
        return read()
    except InvalidSettings as error:
        for sentence in error.sentences:
            err.print(f"error: {sentence}")
        raise typer.Exit(2) from None


def _require_url(url: str | None, where: str) -> str:
    if not url:
        err.print(f"error: the administrator's address is not given ({where})")
        raise typer.Exit(2)
    return url


def _run_setup(
    work: Callable[[], Awaitable[list[str]]],
    wait: float,
    *,
    nothing: str = "everything is as it has to be",
    as_json: bool,
) -> None:
    changes = plain_errors(lambda: asyncio.run(_retry_until_available(work, wait)))
    if as_json:
        print_json({"changes": changes})
    for line in [] if as_json else changes or [nothing]:
        out.print(line)


async def _retry_until_available(
    work: Callable[[], Awaitable[list[str]]], wait: float
) -> list[str]:
    """Do the work, and retry it for ``wait`` seconds while the server does not answer.

    Raises:
        NotAvailable: The server still does not answer.
    """
    deadline = time.monotonic() + wait
    reported: set[str] = set()
    while True:
        try:
            return await work()
        except NotAvailable as error:
            if time.monotonic() + PAUSE > deadline:
                raise
            if error.detail not in reported:
                reported.add(error.detail)
                err.print(f"waiting: {error.detail}")
        await asyncio.sleep(PAUSE)
