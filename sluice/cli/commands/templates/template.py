"""The commands `sluice template …`."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn
from uuid import UUID

import typer

from sluice.cli.commands.templates.template_description import description_lines
from sluice.cli.commands.templates.template_publish import (
    count_unmatched,
    name_file_as_written,
    publish,
    upload,
    waiting_lines,
)
from sluice.cli.commands.templates.template_share import share
from sluice.cli.commands.templates.template_trigger_description import trigger_lines
from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.object_lookup import resolve_template
from sluice.cli.options import JsonOption, TemplateArgument, check_documents_exist
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, out, print_json, print_next_page_hint, print_table
from sluice.clientkit.template_files import read_template_files
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import Finding, NotFound, Unprocessable
from sluice.contracts.templates.templates import (
    RUN_VERSION,
    CheckedTemplate,
    Template,
    TemplateList,
    split_main,
)
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

app = typer.Typer(no_args_is_help=True, help="CWL workflows that data sets go through.")

app.command()(publish)
app.command()(share)
app.command(hidden=True)(upload)


class Format(StrEnum):
    """The format of findings.

    ``github`` prints annotations, which GitHub shows beside the lines of a change.
    """

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


@app.command("check")
def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="CWL workflows. Each may be a folder, a zip, or FILE#ID for a process of a packed"
            " document.",
            callback=check_documents_exist,
            metavar="FILE",
        ),
    ],
    *,
    form: Annotated[
        Format,
        typer.Option("--format", help="text, json, or github (annotations of a workflow run)."),
    ] = Format.TEXT,
    as_json: JsonOption = False,
) -> None:
    """Check templates without a system and without a network.

    It shows every finding with its line and column. The exit status is 1 if there are errors. The
    same checks precede the publication of a template.
    """
    results = [_check_file(file) for file in files]
    if as_json or form is Format.JSON:
        print_json(results[0] if len(results) == 1 else results)
    else:
        for file, result in zip(files, results, strict=True):
            for finding in result.findings:
                out.print(annotation(finding) if form is Format.GITHUB else str(finding))
            if result.plan is not None and form is Format.TEXT:
                steps = ", ".join(f"{step.name} ({step.in_words})" for step in result.plan.steps)
                count = format_count(len(result.plan.steps), "step")
                out.print(f"{file}: fine; {count}: {steps}")
    if any(result.plan is None for result in results):
        raise typer.Exit(1)


def _check_file(file: Path) -> CheckedTemplate:
    from sluice.cwl import compile_upload  # noqa: PLC0415 - reading CWL takes long to import

    try:
        template_files = read_template_files([file])
    except Unprocessable as refusal:
        return CheckedTemplate(findings=refusal.findings, plan=None)
    except OSError as error:
        return CheckedTemplate(
            findings=[Finding(message=f"cannot be read: {reason_of(error)}", file=str(file))],
            plan=None,
        )
    compiled = compile_upload(template_files.upload, name=template_files.name).compiled
    return CheckedTemplate(
        findings=[name_file_as_written(finding, template_files) for finding in compiled.findings],
        plan=compiled.plan,
    )


def annotation(finding: Finding) -> str:
    """Return a finding as a workflow command of GitHub Actions, escaped by its rules."""
    text = finding.message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    file = (finding.file or "").replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    places = {"file": file, "line": finding.line, "col": finding.column}
    return (
        f"::{finding.severity}"
        f" {','.join(f'{key}={value}' for key, value in places.items() if value)}::{text}"
    )


def _print_stored(
    stored_template: Template, warnings: list[Finding], *, as_json: bool, note: str
) -> None:
    if as_json:
        print_json(stored_template)
        return
    for finding in warnings:
        out.print(str(finding))
    out.print(f"{stored_template.name}, version {stored_template.version}{note}")


@app.command("list")
@with_system
def list_templates(
    system: System,
    *,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also list templates that came with runs. No data set is matched with these.",
        ),
    ] = False,
    limit: Annotated[
        int,
        typer.Option(min=1, max=1000, help="The maximum number of templates that came with runs."),
    ] = 100,
    after: Annotated[
        UUID | None,
        typer.Option(
            help="Only templates of runs, from where the previous list ended, as it says."
        ),
    ] = None,
) -> None:
    """List all published templates, each in its latest version."""
    every = every or after is not None
    no_templates = TemplateList(templates=[])

    async def read_page(connection: Connection) -> tuple[list[Template], UUID | None]:
        published = (
            await connection.operator.list_templates(disabled=True)
            if after is None
            else no_templates
        )
        of_runs = (
            await connection.operator.list_run_templates(limit=limit, after=after)
            if every
            else no_templates
        )
        return [*published.templates, *of_runs.templates], of_runs.after

    templates, next_page = system.ask(read_page)
    if system.as_json:
        print_json(templates)
    else:
        print_table(
            ["name", "version", "steps", "stored", "state", *(["id"] if every else [])],
            [_row(template) + ((template.id,) if every else ()) for template in templates],
            empty="no template yet: publish one with `sluice template publish FILE`",
        )
    print_next_page_hint(next_page)


def _row(template: Template) -> tuple[object, ...]:
    version = "(run)" if template.version == RUN_VERSION else template.version
    state = "disabled" if template.disabled_at else ""
    return (
        template.name,
        version,
        len(template.plan.steps),
        local_time(template.created_at),
        state,
    )


@app.command("versions")
@with_system
def versions(
    system: System,
    name: TemplateArgument,
) -> None:
    """List all versions of a template, the newest first."""
    templates = system.ask(lambda c: c.operator.list_templates(all=True)).templates
    matches = [template for template in templates if template.name == name]
    if not matches:
        plain_errors(lambda: _raise_unknown(name))
    if system.as_json:
        print_json(matches)
        return
    rows = [
        (
            template.version,
            len(template.plan.steps),
            len(template.warnings),
            local_time(template.created_at),
        )
        for template in matches
    ]
    print_table(["version", "steps", "warnings", "stored"], rows, empty="")


def _raise_unknown(name: str) -> NoReturn:
    raise NotFound(f"there is no template {quoted(name)}")


VersionOption = Annotated[
    int | None, typer.Option(help="The version. The default is the latest.", min=1)
]


@app.command("show")
@with_system
def show(
    system: System,
    name: TemplateArgument,
    *,
    version: VersionOption = None,
    text: Annotated[
        bool, typer.Option("--text", help="Print the text of the workflow as it was written.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write all files of the template to this folder, as they were written.",
        ),
    ] = None,
) -> None:
    """Show a template: its steps, the data sets that it takes, its parameters and its files.

    With --json, show everything that the system knows of it.
    """
    run = _run_id(name)
    template = system.ask(
        lambda c: (
            c.operator.get_run_template(run) if run else resolve_template(c, name, version=version)
        ),
    )
    files = template.files or {"workflow.cwl": template.cwl or ""}
    if folder is not None:
        plain_errors(lambda: _write(folder, files))
        system.answer(
            {"folder": str(folder), "files": sorted(files)},
            f"{format_count(len(files), 'file')} in {folder}",
        )
    elif system.as_json:
        print_json(template)
    elif text:
        sys.stdout.buffer.write((template.cwl or "").encode())
        main, _ = split_main(template.main or "", files)
        others = sorted(set(files) - {main})
        if others and main:
            err.print(f"{main}; there are others, which --out writes: {', '.join(others)}")
    else:
        for line in (*description_lines(template), *trigger_lines(system, template)):
            out.print(line)


def _run_id(name: str) -> UUID | None:
    """Return the id of a template that came with a run, or None for the name of a template.

    Templates of runs are known by their ids, because many of them may have the same name.
    """
    try:
        return UUID(name)
    except ValueError:
        return None


def _write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        if not Path(os.path.abspath(place)).is_relative_to(os.path.abspath(folder)):
            raise Unprocessable(f"the template's file {quoted(path)} is outside of its folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())


@app.command("restore")
@with_system
def restore(
    system: System,
    name: TemplateArgument,
    version: Annotated[
        int, typer.Argument(help="The version whose files become the latest again.", min=1)
    ],
) -> None:
    """Make an old version of a template the latest again, as a new version.

    Running chains keep their version.
    """
    stored = system.ask(lambda c: c.operator.restore_template(name, version=version))
    _print_stored(
        stored,
        stored.warnings,
        as_json=system.as_json,
        note=f", with the files of version {version}",
    )


@app.command("disable")
@with_system
def disable(
    system: System,
    name: TemplateArgument,
) -> None:
    """Disable a template: it matches no data sets, and its chains cannot be requested.

    Running chains continue.
    """
    template = system.ask(lambda c: c.operator.disable_template(name))
    system.answer(
        template,
        f"{name} is disabled: nothing goes through it until `sluice template enable {name}`",
    )


@app.command("enable")
@with_system
def enable(
    system: System,
    name: TemplateArgument,
) -> None:
    """Enable a disabled template, so that data sets go through it again."""

    async def enable_and_count(connection: Connection) -> tuple[Template, int]:
        template = await connection.operator.enable_template(name)
        return template, await count_unmatched(connection, template)

    template, waiting = system.ask(enable_and_count)
    system.answer(template, "\n".join([f"{name} is enabled", *waiting_lines(name, waiting)]))


@app.command("delete")
@with_system
@with_confirmation
def delete(
    system: System,
    confirmation: Confirmation,
    name: TemplateArgument,
    *,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Delete the template even while chains of it run. The chains continue."
        ),
    ] = False,
) -> None:
    """Delete a template, so that it no longer matches data sets.

    NAME may be the id of a template that came with a run.
    """
    run = _run_id(name)
    if run is None:
        newest_template = system.ask(lambda c: resolve_template(c, name))
        confirmation.require(
            f"delete template {name} with all its versions ({newest_template.version} is the"
            " newest): it no longer matches data sets"
        )
    else:
        confirmation.require(f"delete the template {name}, which came with a run")
    system.ask(
        lambda c: (
            c.operator.delete_run_template(run)
            if run
            else c.operator.delete_template(name, force=force)
        ),
    )
    system.answer({"name": name, "deleted": True}, f"{name} deleted")
