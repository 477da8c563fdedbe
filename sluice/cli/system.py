"""The system that a command works with, and the options that most commands share."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import typer
from pydantic import BaseModel

from sluice.cli.errors import plain_errors
from sluice.cli.options import HomeOption, JsonOption, UrlOption
from sluice.clientkit.connection import Connection, connected, running_url
from sluice.clientkit.output import print_answer
from sluice.contracts.common.problems import NotAvailable
from sluice.embedded.home import DEFAULT_HOME
from sluice.process.termination import run_until_terminated

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class System:
    """The values of ``--url``, ``--home`` and ``--json``."""

    url: str | None
    home: Path
    as_json: bool = False

    def ask(
        self, send_requests: Callable[[Connection], Awaitable[Result]], *, token: str | None = None
    ) -> Result:
        """Send requests to the system, and return their result.

        If they fail, the command ends with status 1 and the reason.

        Args:
            send_requests: The function that sends the requests.
            token: Replaces the token that is known for the address.
        """

        async def run() -> Result:
            async with connected(self._address(), token=token) as connection:
                return await send_requests(connection)

        return plain_errors(lambda: run_until_terminated(run()))

    def address(self) -> str:
        """Return the address of the system, or end the command with status 1."""
        return plain_errors(self._address)

    def _address(self) -> str:
        """Return the address of the system.

        Raises:
            NotAvailable: No address is given, and no system runs in the home folder.
        """
        address = self.url or running_url(self.home)
        if address is None:
            raise NotAvailable(
                f"no system runs in {self.home}: start one with `sluice up`, or give --url"
            )
        return address.rstrip("/")

    def answer(self, value: BaseModel | dict[str, Any], sentence: str) -> None:
        """Print the result of a command: a sentence for people, or a value for programs."""
        print_answer(value, sentence, as_json=self.as_json)


#: The options that follow the command's own.
_OPTIONS = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (
        ("ctx", None, typer.Context),
        ("url", None, UrlOption),
        ("home", DEFAULT_HOME, HomeOption),
        ("as_json", False, JsonOption),
    )
]


def _has_only_home(context: typer.Context) -> bool:
    """Return whether the command line has ``--home`` and no ``--url``.

    Then an address in ``SLUICE_URL`` does not count.
    """
    sources = [context.get_parameter_source(name) for name in ("home", "url")]
    is_on_command_line = [source is not None and source.name == "COMMANDLINE" for source in sources]
    return is_on_command_line == [True, False]


def with_system(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--url``, ``--home`` and ``--json`` in place of its first parameter."""
    [_, *own] = inspect.signature(command, eval_str=True).parameters.values()
    asks_for_context = any(parameter.name == "ctx" for parameter in own)
    own = [parameter for parameter in own if parameter.name != "ctx"]

    @wraps(command)
    def wrapper(
        *, ctx: typer.Context, url: str | None, home: Path, as_json: bool, **options: Any
    ) -> None:
        effective_url = None if _has_only_home(ctx) else url
        if asks_for_context:
            options["ctx"] = ctx
        command(System(effective_url, home, as_json), **options)

    wrapper.__signature__ = inspect.Signature([*own, *_OPTIONS])  # type: ignore[attr-defined]
    return wrapper
