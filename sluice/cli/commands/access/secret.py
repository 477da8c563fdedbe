"""The commands `sluice secret …`."""

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr

from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.object_lookup import require_existing_name
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, print_json, print_table
from sluice.contracts.access.secrets import MAX_SECRET, NewSecret
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

app = typer.Typer(
    no_args_is_help=True,
    help="Secrets for tools. They are stored encrypted, given to jobs, and never shown again.",
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the secret.")]


@app.command("set")
@with_system
def set_secret(
    system: System,
    name: NameArgument,
    *,
    file: Annotated[
        Path | None,
        typer.Option(help="File with the value. The default is standard input."),
    ] = None,
    templates: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="GLOB",
            help="Name of a template that may use the secret, or a pattern such as 'places*'."
            " The option may be repeated. Its list replaces that of the previous version, which"
            " stays otherwise.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="GROUP",
            help="Group that owns these templates. The default is the group that has published"
            " under the names, or that of the previous version.",
        ),
    ] = None,
) -> None:
    """Store a value as the next version of a secret. At a terminal, the command asks for it."""
    new = plain_errors(
        lambda: NewSecret(
            name=name, value=SecretStr(_read_value(file)), templates=templates, group=group
        )
    )
    secret = system.ask(lambda c: c.operator.set_secret(new))
    newest_version = secret.newest
    system.answer(
        secret, f"{secret.name}, version {newest_version.version}, for {newest_version.users}"
    )


@app.command("list")
@with_system
def list_secrets(system: System) -> None:
    """List secrets with their versions and who may use them, but never their values."""
    secrets = system.ask(lambda c: c.operator.list_secrets()).secrets
    if system.as_json:
        print_json(secrets)
        return
    print_table(
        ["secret", "version", "set", "for"],
        [
            (secret.name, version.version, local_time(version.created_at), version.users)
            for secret in secrets
            for version in secret.versions
        ],
        empty="no secret",
    )


@app.command("remove")
@with_system
@with_confirmation
def remove(
    system: System,
    confirmation: Confirmation,
    name: NameArgument,
    *,
    version: Annotated[int | None, typer.Option(min=1, help="Remove only this version.")] = None,
) -> None:
    """Permanently remove a secret, or one version of it. Jobs that still need it fail."""
    what = name if version is None else f"{name}, version {version}"

    async def check_exists(connection: Connection) -> None:
        secrets = (await connection.operator.list_secrets()).secrets
        require_existing_name("secret", name, (secret.name for secret in secrets))
        versions = [entry.version for s in secrets if s.name == name for entry in s.versions]
        if version is not None and version not in versions:
            raise NotFound(f"secret {quoted(name)} has no version {version}: `sluice secret list`")

    system.ask(check_exists)
    confirmation.require(f"remove secret {what}: its value is lost, and jobs that need it fail")
    system.ask(lambda c: c.operator.remove_secret(name, version=version))
    system.answer({"secret": name, "version": version}, f"{what} removed")


def _read_value(file: Path | None) -> str:
    """Return the value of a secret unchanged, with any newline at its end.

    Raises:
        Unprocessable: The value cannot be read, is too large, is not valid UTF-8, or was typed
            differently the second time.
    """
    if file is None and sys.stdin.isatty():
        value = getpass.getpass("value: ")
        if value != getpass.getpass("again: "):
            raise Unprocessable("the two values differ: nothing was stored")
        return value
    if file is None:
        data = sys.stdin.buffer.read(MAX_SECRET + 1)
    else:
        try:
            with file.open("rb") as opened:
                data = opened.read(MAX_SECRET + 1)
        except OSError as error:
            raise Unprocessable(
                f"the value cannot be read from --file {file}: {reason_of(error)}"
            ) from None
    if len(data) > MAX_SECRET:
        raise Unprocessable(
            f"the value of a secret may have {MAX_SECRET} bytes, and this one has more: give larger"
            " values to tools as a file of a data set"
        )
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Unprocessable(
            "the value is not valid UTF-8: encode it, with Base64 for instance, and let the tool"
            " decode it"
        ) from None
    if text.endswith("\n"):
        err.print(
            "note: the value ends with a newline, which is part of it (`printf %s` writes none)"
        )
    return text
