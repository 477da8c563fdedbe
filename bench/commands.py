"""The `sluice bench …` commands: figures of the system beside those of a peer in the same run."""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.errors import plain_errors

app = typer.Typer(
    no_args_is_help=True,
    help="Measure this machine. Each command prints a table and, as its last line, a JSON object.",
)


@app.command("jobs")
def jobs(files: Annotated[int, typer.Option(min=10, help="The number of files.")] = 2000) -> None:
    """Run real jobs (sha256sum of small files, then a merge), beside xargs and cwltool."""
    from bench.jobs import bench_jobs  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_jobs(files)).show()


@app.command("latency")
def latency(
    rounds: Annotated[
        int, typer.Option(min=1, help="The number of data sets, one after the other.")
    ] = 40,
) -> None:
    """Measure latencies of an idle system: to the first job, and between steps."""
    from bench.latency import bench_latency  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_latency(rounds)).show()


@app.command("bookkeeping")
def bookkeeping(
    jobs: Annotated[int, typer.Option(min=100, help="The number of jobs that run.")] = 10_000,
    waiting: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            help="The number of jobs that wait meanwhile. Repeat the option for several numbers.",
        ),
    ] = None,
    stack: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Measure the processes in this folder (see `make stack-bench`). The default is an"
                " embedded system."
            )
        ),
    ] = None,
) -> None:
    """Measure services and database alone, with simulated pilots."""
    # The benchmark starts a whole system.
    from bench.bookkeeping import bench_bookkeeping  # noqa: PLC0415

    plain_errors(lambda: bench_bookkeeping(jobs, waiting or [1], stack)).show()


@app.command("merge")
def merge(
    files: Annotated[
        int, typer.Option(min=10, help="The number of input files of the job.")
    ] = 5000,
) -> None:
    """Run one job that takes a whole data set, beside the tool's own time and cwltool."""
    from bench.merge import bench_merge  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_merge(files)).show()


@app.command("warm")
def warm(
    files: Annotated[int, typer.Option(min=10, help="The number of files.")] = 1000,
    rounds: Annotated[
        int, typer.Option(min=1, help="The number of rounds. The first is not counted.")
    ] = 3,
) -> None:
    """Compare a warm worker with a new process of the same tool for each job."""
    from bench.warm import bench_warm  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_warm(files, rounds)).show()


@app.command("size")
def size(
    files: Annotated[
        list[int] | None,
        typer.Option(
            min=100, help="The number of files of a data set. Repeat the option for several."
        ),
    ] = None,
    stack: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Measure the processes in this folder (see `make stack`). The default is an"
                " embedded system."
            )
        ),
    ] = None,
) -> None:
    """Measure the cost of a job, and memory, with small and large data sets."""
    from bench.size import bench_size  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_size(files or [1_000, 20_000], stack)).show()


@app.command("cwl-runner")
def cwl_runner_overhead(
    rounds: Annotated[
        int, typer.Option(min=1, help="The number of commands, one after the other.")
    ] = 20,
) -> None:
    """Run `sluice cwl-runner` on one small tool, beside cwltool."""
    from bench.cwl_runner import bench_command  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_command(rounds)).show()


@app.command("check")
def template_check(
    steps: Annotated[int, typer.Option(min=1, help="The number of steps of the template.")] = 40,
) -> None:
    """Check a large template, correct and wrong, beside cwltool's validation."""
    from bench.check import bench_check  # noqa: PLC0415 - loads the CWL libraries

    plain_errors(lambda: bench_check(steps)).show()


@app.command("fit")
def what_fits() -> None:
    """Match 10 000 kinds of resource requests with the free capacity of a node with 8 GPUs."""
    from bench.fit import bench_fit  # noqa: PLC0415 - as the others

    plain_errors(bench_fit).show()


@app.command("ocr")
def document_ocr(
    pages: Annotated[int, typer.Option(min=8, help="The number of pages.")] = 40,
    rounds: Annotated[int, typer.Option(min=1, help="The number of rounds of each.")] = 5,
) -> None:
    """Run pages through pero-ocr, beside a plain loop and new tool processes.

    This needs `make ocr`.
    """
    from bench.ocr import bench_ocr  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_ocr(pages, rounds)).show()


@app.command("crawl")
def polite_crawl(
    sites: Annotated[int, typer.Option(min=10, help="The number of sites.")] = 300,
    rounds: Annotated[int, typer.Option(min=1, help="The number of rounds of each.")] = 3,
    spiders: Annotated[int, typer.Option(min=2, help="The number of waiting spiders.")] = 1000,
) -> None:
    """Run `mt-crawl` on many small sites, beside plain Scrapy. This needs the pack `masstimes`."""
    from bench.crawl import bench_crawl  # noqa: PLC0415 - as the others

    plain_errors(lambda: bench_crawl(sites, rounds, spiders)).show()


@app.command("ask")
def simulate_annotators(
    items: Annotated[int, typer.Option(min=10, help="The number of items.")] = 2000,
    people: Annotated[
        int, typer.Option(min=1, help="The number of annotators at the same time.")
    ] = 200,
    think: Annotated[
        float, typer.Option(min=0, help="Seconds that an annotator needs for an item.")
    ] = 1.0,
) -> None:
    """Simulate annotators, who send the requests of the page."""
    from bench.ask import bench_ask  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_ask(items, people, think)).show()


@app.command("stragglers")
def stragglers(
    jobs: Annotated[int, typer.Option(min=10, help="The number of jobs of the step.")] = 400,
    rounds: Annotated[int, typer.Option(min=1, help="The number of rounds of each.")] = 3,
) -> None:
    """Run a step on four pilots, one of them slow, with and without speculative execution."""
    from bench.stragglers import bench_stragglers  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_stragglers(jobs, rounds)).show()


@app.command("flow")
def flow(
    files: Annotated[
        int, typer.Option(min=64, max=1000, help="The number of files of the data set.")
    ] = 500,
    rounds: Annotated[int, typer.Option(min=1, help="The number of rounds of each.")] = 3,
) -> None:
    """Run maps and a merge in groups, with a few long jobs, beside the same with barriers."""
    from bench.flow import bench_flow  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_flow(files, rounds)).show()


@app.command("maps")
def maps(
    files: Annotated[int, typer.Option(min=10, help="The number of files of the data set.")] = 2000,
) -> None:
    """Run three small maps over many files, beside one map, cwltool, StreamFlow and Snakemake.

    StreamFlow and Snakemake run where they are installed.
    """
    from bench.maps import bench_maps  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_maps(files)).show()


@app.command("simulate")
def simulate(
    scenarios: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenarios with one group of nodes and one of pages. The default is"
            " docs/scenarios/ocr-*.yaml.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=2, help="The number of runs of each scenario.")] = 20,
) -> None:
    """Simulate the placement of warm workers: the policy of Sluice beside the watchdog."""
    from bench.simulate import bench_simulate  # noqa: PLC0415 - as the others

    files = scenarios or sorted(Path("docs/scenarios").glob("ocr-*.yaml"))
    if not files:
        raise typer.BadParameter("name scenarios: there are none in docs/scenarios here")
    plain_errors(lambda: bench_simulate(files, seeds)).show()


@app.command("all")
def everything() -> None:
    """Run all that take a minute or two: not `ask`, `crawl`, `maps`, `ocr`, `size`, `simulate`."""
    bookkeeping()
    jobs()
    latency()
    merge()
    warm()
    flow()
    stragglers()
    cwl_runner_overhead()
    template_check()
    what_fits()
