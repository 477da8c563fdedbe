"""All commands of ``sluice``."""

import typer

from sluice.cli import (
    benchmarks,
    chains,
    cwl_command,
    datasets,
    pilots,
    queues,
    run,
    serve,
    setup,
    storages,
    tasks,
    templates,
    up,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Workflow management for data that never stops arriving.",
)
app.command("up")(up.up)
app.command("down")(up.down)
app.command("status")(up.status)
app.command("run")(run.run)
app.command("serve")(serve.serve)
app.command("cwl-runner", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(cwl_command.cwl_runner)
app.add_typer(setup.app, name="setup")
app.add_typer(templates.app, name="template")
app.add_typer(datasets.app, name="dataset")
app.add_typer(storages.app, name="storage")
app.add_typer(chains.app, name="chain")
app.add_typer(tasks.app, name="task")
app.add_typer(pilots.app, name="pilot")
app.add_typer(queues.app, name="queue")
app.add_typer(benchmarks.app, name="bench")
