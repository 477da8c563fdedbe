"""The commands `sluice pipeline …`."""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.errors import plain_errors
from sluice.cli.job_orders.parameters import key_texts
from sluice.cli.system import System, with_system
from sluice.clientkit.output import err, print_json
from sluice.contracts.common.problems import Conflict
from sluice.contracts.templates.tools import ComposeTools

app = typer.Typer(no_args_is_help=True, help="Workflows that are composed of tools of the library.")


@app.command("compose")
@with_system
def compose(
    system: System,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the template.")],
    tools: Annotated[
        list[str], typer.Argument(metavar="TOOL[@VERSION]", help="The tools, in order.")
    ],
    *,
    bind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PARAMETER=TARGET",
            help="The value of a parameter, as in sluice:bind: asset:NAME, or a key of the"
            " metadata. Repeat the option for each parameter.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the workflow to this file, and publish nothing."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the workflow, and publish nothing.")
    ] = False,
) -> None:
    """Compose a workflow of tools, and publish it as a template.

    Outputs are joined to inputs by type, format and name. The template can be read and edited like
    any other.
    """
    if file is not None and file.exists():
        path = file
        plain_errors(lambda: _refuse(path))
    store = file is None and not dry_run
    targets = key_texts(bind or [], option="--bind")
    request = plain_errors(lambda: ComposeTools(name=name, tools=tools, bind=targets, store=store))
    result = system.ask(lambda c: c.operator.compose(request))
    for finding in result.findings:
        err.print(str(finding))
    if file is not None:
        file.write_text(result.cwl, encoding="utf-8")
        system.answer(result, f"{file}: {name}, of {', '.join(tools)}")
    elif result.template is not None:
        label = f"{result.template.name}, version {result.template.version}"
        system.answer(result, f"{label}, of {', '.join(tools)}")
    elif system.as_json:
        print_json(result)
    else:
        print(result.cwl, end="")


def _refuse(file: Path) -> None:
    raise Conflict(f"{file} already exists: name another file, or remove it")
