"""`sluice template …`"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.connect import DEFAULT_HOME, HomeOption, JsonOption, UrlOption, ask, plain_errors
from sluice.cli.output import answer, out, print_json, print_table
from sluice.cli.run import template_name
from sluice.contracts.problems import Finding
from sluice.contracts.templates import CheckedTemplate, NewTemplate

app = typer.Typer(no_args_is_help=True, help="CWL workflows that data sets are carried through.")

FileArgument = Annotated[Path, typer.Argument(help="The CWL workflow.", exists=True, dir_okay=False)]


class Format(StrEnum):
    """How findings are printed. ``github``: as commands that GitHub shows beside the lines of a change."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


@app.command("check")
def check(
    files: Annotated[list[Path], typer.Argument(help="CWL workflows.", exists=True, dir_okay=False, metavar="FILE…")],
    *,
    form: Annotated[
        Format, typer.Option("--format", help="text, json, or github (annotations of a workflow run).")
    ] = Format.TEXT,
    as_json: JsonOption = False,
) -> None:
    """Check templates without a system and without a network: every finding with its line and column. Exits 1 on errors."""
    from sluice.cwl import compile_file  # noqa: PLC0415 - reading CWL takes long to import

    checked = [(file, compile_file(file, name=template_name(file))[0]) for file in files]
    results = [CheckedTemplate(findings=compiled.findings, plan=compiled.plan) for _, compiled in checked]
    if as_json or form is Format.JSON:
        print_json(results[0] if len(results) == 1 else results)
    else:
        for file, compiled in checked:
            for finding in compiled.findings:
                out.print(annotation(finding) if form is Format.GITHUB else str(finding))
            if compiled.plan is not None and form is Format.TEXT:
                steps = ", ".join(f"{step.name} ({step.mode.value})" for step in compiled.plan.steps)
                out.print(f"{file}: fine; {len(compiled.plan.steps)} steps: {steps}")
    if any(result.plan is None for result in results):
        raise typer.Exit(1)


def annotation(finding: Finding) -> str:
    """A finding as a workflow command of GitHub Actions, whose rules for escaping these are."""
    text = finding.message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    file = (finding.file or "").replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    places = {"file": file, "line": finding.line, "col": finding.column}
    return f"::{finding.severity} {','.join(f'{key}={value}' for key, value in places.items() if value)}::{text}"


@app.command("upload")
def upload(
    file: FileArgument,
    *,
    name: Annotated[str | None, typer.Option(help="Its name in the system; default: from the file.")] = None,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Store a template. The same text again changes nothing; another text is the next version."""
    from sluice.cwl import pack_template  # noqa: PLC0415 - reading CWL takes long to import

    text = plain_errors(lambda: pack_template(file))
    stored = ask(url, home, lambda c: c.operator.store_template(NewTemplate(name=name or template_name(file), cwl=text)))
    if as_json:
        print_json(stored)
        return
    for finding in stored.warnings:
        out.print(str(finding))
    out.print(f"{stored.name}, version {stored.version}")


@app.command("list")
def list_templates(*, url: UrlOption = None, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """All templates, the latest version of each."""
    templates = ask(url, home, lambda c: c.operator.templates()).templates
    if as_json:
        print_json(templates)
        return
    print_table(
        ["name", "version", "steps", "stored"],
        [(t.name, t.version, len(t.plan.steps), f"{t.created_at:%Y-%m-%d %H:%M}") for t in templates],
        empty="no template yet: store one with `sluice template upload FILE`",
    )


@app.command("show")
def show(
    name: str,
    *,
    version: Annotated[int | None, typer.Option(help="Default: the latest.")] = None,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """The text of a template; with --json everything the system knows of it."""
    template = ask(url, home, lambda c: c.operator.template(name, version=version))
    if as_json:
        print_json(template)
    else:
        out.print(template.cwl or "", end="")


@app.command("delete")
def delete(
    name: str,
    *,
    force: Annotated[bool, typer.Option("--force", help="Even while chains of it run; they go on.")] = False,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Delete a template: it matches nothing any more."""
    ask(url, home, lambda c: c.operator.delete_template(name, force=force))
    answer({"name": name, "deleted": True}, f"{name} deleted", as_json=as_json)
