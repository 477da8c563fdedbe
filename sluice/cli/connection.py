"""How the command finds the system: an address given, or the embedded one of the home folder."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import httpx
import typer
from pydantic import ValidationError

from sluice.cli.output import err, print_problem
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.problems import NotAvailable, ServiceError, Unprocessable
from sluice.contracts.wording import names_value, sentence_of
from sluice.embedded.home import Home
from sluice.storage import BundleError, StorageError
from sluice.trust import trust

Result = TypeVar("Result")

HomeOption = Annotated[
    Path,
    typer.Option(
        "--home", envvar="SLUICE_HOME", help="Folder of the embedded system.", show_default=True
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="SLUICE_URL",
        help="Address of a running system; without it, the one in --home.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]


@dataclass(frozen=True, slots=True)
class Connection:
    """Clients of one system. The DMS is at ``<url>/services/dms`` unless ``SLUICE_DMS_URL`` says
    otherwise."""

    url: str
    operator: OperatorClient
    dms: DmsClient


def running_url(home: Path) -> str | None:
    running = Home(home).running()
    return running.url if running else None


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    """Raises ``Unprocessable`` for what is no address; nothing is asked yet."""
    dms_url = os.environ.get("SLUICE_DMS_URL", f"{url}/services/dms")
    for address in (url, dms_url):
        _require_address(address)
    async with (
        httpx.AsyncClient(base_url=url, timeout=30, verify=trust(url)) as operator,
        httpx.AsyncClient(base_url=dms_url, timeout=60, verify=trust(dms_url)) as dms,
    ):
        yield Connection(url, OperatorClient(operator), DmsClient(dms))


def _require_address(text: str) -> None:
    try:
        httpx.URL(text)
    except httpx.InvalidURL as error:
        raise Unprocessable(
            f"{text!r} is no address of a system, as in http://127.0.0.1:8080: {error}"
        ) from error


def ask(url: str | None, home: Path, question: Callable[[Connection], Awaitable[Result]]) -> Result:
    """Runs ``question`` against the system; ends the command with 1 and the reason when that cannot
    be."""

    async def run() -> Result:
        address = url or running_url(home)
        if address is None:
            raise NotAvailable(
                f"no system runs in {home}: start one with `sluice up`, or give --url"
            )
        async with connected(address.rstrip("/")) as connection:
            return await question(connection)

    return plain_errors(lambda: asyncio.run(run()))


def plain_errors(call: Callable[[], Result]) -> Result:
    """Errors that mean something to a person end the command with status 1 and a sentence, not a
    traceback."""
    try:
        return call()
    except ServiceError as error:
        print_problem(error)
    except KeyboardInterrupt:
        err.print("interrupted")
        raise typer.Exit(130) from None
    except ValidationError as error:
        for wrong in error.errors():
            value = "" if names_value(wrong) else f", not {str(wrong['input'])[:200]!r}"
            err.print(f"error: {'.'.join(map(str, wrong['loc']))}: {sentence_of(wrong)}{value}")
    except (OSError, StorageError, BundleError) as error:
        err.print(f"error: {error}")
    raise typer.Exit(1) from None
