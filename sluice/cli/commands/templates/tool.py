"""The commands `sluice tool …`."""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.options import GroupOption
from sluice.cli.system import System, with_system
from sluice.clientkit.output import err, out, print_json, print_table
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.templates.tools import NewTool, PortOfTool
from sluice.text.os_errors import reason_of

app = typer.Typer(
    no_args_is_help=True,
    help="The library of tools, which `sluice pipeline compose` joins to workflows.",
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the tool.")]
VersionOption = Annotated[int | None, typer.Option(min=1, help="The version of the tool.")]


@app.command("put")
@with_system
def put(
    system: System,
    name: NameArgument,
    file: Annotated[Path, typer.Argument(help="CWL file of a CommandLineTool.", metavar="FILE")],
    *,
    group: GroupOption = None,
) -> None:
    """Store a tool as the next version of its name. The same text gives the same version."""
    new = plain_errors(lambda: NewTool(name=name, cwl=_read_text(file), group=group))
    stored = system.ask(lambda c: c.operator.store_tool(new))
    for finding in stored.warnings:
        err.print(str(finding))
    tool = stored.tool
    already = "" if stored.new else ": it has this text already"
    system.answer(stored, f"{tool.name}, version {tool.version}{already}")


@app.command("list")
@with_system
def list_tools(system: System) -> None:
    """List tools with their inputs and outputs."""
    tools = system.ask(lambda c: c.operator.list_tools()).tools
    if system.as_json:
        print_json(tools)
        return
    print_table(
        ["tool", "version", "takes", "gives", "is for"],
        [
            (
                tool.name,
                tool.version,
                _format_ports(tool.inputs),
                _format_ports(tool.outputs),
                (tool.doc.splitlines() or [""])[0],
            )
            for tool in tools
        ],
        empty="no tool",
    )


@app.command("show")
@with_system
def show(system: System, name: NameArgument, *, version: VersionOption = None) -> None:
    """Show the text of a tool."""
    tool = system.ask(lambda c: c.operator.get_tool(name, version=version))
    if system.as_json:
        print_json(tool)
    else:
        out.print(tool.cwl or "", end="")


@app.command("remove")
@with_system
@with_confirmation
def remove(
    system: System, confirmation: Confirmation, name: NameArgument, *, version: VersionOption = None
) -> None:
    """Remove a tool, or one version of it. Templates composed of it stay as they are."""
    what = name if version is None else f"{name}, version {version}"
    system.ask(lambda c: c.operator.get_tool(name, version=version))
    confirmation.require(f"remove tool {what} from the library")
    system.ask(lambda c: c.operator.remove_tool(name, version=version))
    system.answer({"tool": name, "version": version}, f"{what} removed")


def _format_ports(ports: list[PortOfTool]) -> str:
    return ", ".join(f"{port.name}: {port.bound or port.type}" for port in ports)


def _read_text(file: Path) -> str:
    """Return the text of a file.

    Raises:
        Unprocessable: The file cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unprocessable(f"{file} cannot be read: {reason_of(error)}") from error
