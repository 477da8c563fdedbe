"""The `sluice bench …` commands: figures of the system beside those of a peer in the same run."""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.errors import plain_errors

app = typer.Typer(
    no_args_is_help=True,
    help="Measure this machine: each prints a table and, as its last line, one JSON object.",
)


@app.command("jobs")
def jobs(files: Annotated[int, typer.Option(min=10, help="Files to work on.")] = 2000) -> None:
    """Run real jobs (sha256sum of small files, then a merge), beside xargs and cwltool."""
    from bench.jobs import bench_jobs  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_jobs(files)).show()


@app.command("latency")
def latency(
    rounds: Annotated[int, typer.Option(min=1, help="Data sets, one after the other.")] = 40,
) -> None:
    """Measure an idle system: data set closed to first job, and step to step."""
    from bench.latency import bench_latency  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_latency(rounds)).show()


@app.command("bookkeeping")
def bookkeeping(
    jobs: Annotated[
        int, typer.Option(min=100, help="Jobs to carry from leased to registered.")
    ] = 10_000,
    waiting: Annotated[
        list[int] | None,
        typer.Option(
            min=1, help="Jobs more that are ready all the time; several times: one after the other."
        ),
    ] = None,
    stack: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Folder of separate processes to measure (see `make stack-bench`); without it, an"
                " embedded system."
            )
        ),
    ] = None,
) -> None:
    """Measure services and database alone, with simulated pilots."""
    from bench.bookkeeping import (  # noqa: PLC0415 - starts a whole system
        bench_bookkeeping,
    )

    plain_errors(lambda: bench_bookkeeping(jobs, waiting or [1], stack)).show()


@app.command("merge")
def merge(
    files: Annotated[int, typer.Option(min=10, help="Files that one job takes.")] = 5000,
) -> None:
    """Run one job that takes a whole data set, beside the tool's own time and cwltool."""
    from bench.merge import bench_merge  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_merge(files)).show()


@app.command("warm")
def warm(
    files: Annotated[int, typer.Option(min=10, help="Files to work on.")] = 1000,
    rounds: Annotated[int, typer.Option(min=1, help="Of all four, the first to warm up.")] = 3,
) -> None:
    """Compare a warm worker with the same tool started anew."""
    from bench.warm import bench_warm  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_warm(files, rounds)).show()


@app.command("size")
def size(
    files: Annotated[
        list[int] | None,
        typer.Option(min=100, help="Files of a data set; several times: one after the other."),
    ] = None,
    stack: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Folder of separate processes to measure (`make stack`); without it, an embedded"
                " system."
            )
        ),
    ] = None,
) -> None:
    """Run small and large data sets through two steps: cost per job, memory."""
    from bench.size import bench_size  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_size(files or [1_000, 20_000], stack)).show()


@app.command("cwl-runner")
def cwl_runner_overhead(
    rounds: Annotated[int, typer.Option(min=1, help="Commands, one after the other.")] = 20,
) -> None:
    """Run `sluice cwl-runner` on one small tool, beside cwltool."""
    from bench.cwl_runner import bench_command  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_command(rounds)).show()


@app.command("check")
def template_check(
    steps: Annotated[int, typer.Option(min=1, help="Steps of the template.")] = 40,
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
    pages: Annotated[int, typer.Option(min=8, help="Drawn pages of a volume.")] = 40,
    rounds: Annotated[int, typer.Option(min=1, help="Of both, taking turns.")] = 5,
) -> None:
    """Run pages through pero-ocr, beside a plain loop and tools started anew; needs `make ocr`."""
    from bench.ocr import bench_ocr  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_ocr(pages, rounds)).show()


@app.command("crawl")
def polite_crawl(
    sites: Annotated[int, typer.Option(min=10, help="Of the small web that is served.")] = 300,
    rounds: Annotated[int, typer.Option(min=1, help="Of both, taking turns.")] = 3,
    spiders: Annotated[int, typer.Option(min=2, help="That wait, for memory and CPU.")] = 1000,
) -> None:
    """Run `mt-crawl` on many small sites, beside plain Scrapy; needs the extra `masstimes`."""
    from bench.crawl import bench_crawl  # noqa: PLC0415 - as the others

    plain_errors(lambda: bench_crawl(sites, rounds, spiders)).show()


@app.command("ask")
def asking(
    items: Annotated[int, typer.Option(min=10, help="That people are asked about.")] = 2000,
    people: Annotated[int, typer.Option(min=1, help="That answer at the same time.")] = 200,
    think: Annotated[float, typer.Option(min=0, help="Seconds that each looks at one.")] = 1.0,
) -> None:
    """Let people answer through the page's requests."""
    from bench.ask import bench_ask  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_ask(items, people, think)).show()


@app.command("stragglers")
def stragglers(
    jobs: Annotated[int, typer.Option(min=10, help="Jobs of the step.")] = 400,
    rounds: Annotated[int, typer.Option(min=1, help="With and without, in turns.")] = 3,
) -> None:
    """Run a step on four pilots, one of them slow, with and without speculative execution."""
    from bench.stragglers import bench_stragglers  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_stragglers(jobs, rounds)).show()


@app.command("flow")
def flow(
    files: Annotated[int, typer.Option(min=64, max=1000, help="Files of the data set.")] = 500,
    rounds: Annotated[int, typer.Option(min=1, help="Of both, taking turns.")] = 3,
) -> None:
    """Run maps and a merge in groups, with a few long jobs, beside the same with barriers."""
    from bench.flow import bench_flow  # noqa: PLC0415 - starts a whole system

    plain_errors(lambda: bench_flow(files, rounds)).show()


@app.command("maps")
def maps(
    files: Annotated[int, typer.Option(min=10, help="Files of the data set.")] = 2000,
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
            metavar="[SCENARIO]…",
            help="With one group of nodes and one of arrivals. Default: docs/scenarios/ocr-*.yaml.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=2, help="Runs of each, for the confidence.")] = 20,
) -> None:
    """Simulate the placement of warm workers: the policy of Sluice beside the watchdog."""
    from bench.simulate import bench_simulate  # noqa: PLC0415 - as the others

    files = scenarios or sorted(Path("docs/scenarios").glob("ocr-*.yaml"))
    if not files:
        raise typer.BadParameter("name scenarios: there are none in docs/scenarios here")
    plain_errors(lambda: bench_simulate(files, seeds)).show()


@app.command("all")
def everything() -> None:
    """Run all that take a minute or two: not `crawl`, `maps`, `ocr`, `size`, `simulate`."""
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
