"""Crawl a small web, let people label its mass times, train a model, and make a table of them.

`make masstimes-demo` runs this program. Then ten sites change, and the second run takes only those.

The web and the people are simulated. All else is the real system: templates that start when data
sets come and grow, and the page for annotators. The figures come from the system's answers and
files, compared with the truth, which no step sees.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx

from masstimes.annotators import Manner, answer_all, make_annotators
from masstimes.classifier.torch_needed import require_torch
from masstimes.demo_chains import (
    ANNOTATE,
    DemoError,
    create_link,
    fetch_outputs,
    get_browsers,
    print_progress_forever,
    publish,
    read_summaries,
    start_crawl,
    wait_for_chain,
    wait_until_finished,
)
from masstimes.demo_settings import SETTINGS
from masstimes.knowledge import make_gold_items, read_true_answers
from masstimes.small_web.commands import WEB
from masstimes.table.files import read_table
from masstimes.table.measure_command import measure, read_truth
from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.output import err, out, print_problem, print_table
from sluice.clientkit.transfer.assets import collect_files, put_asset
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import BrowserState, ChainState
from sluice.embedded.demonstration import SYSTEM, demonstration_folder, demonstration_system
from sluice.network.http_clients import send_request
from sluice.packs.demo_options import add_demo_options
from sluice.packs.programs import CommandError, positive
from sluice.text.os_errors import os_error_sentence, reason_of

PACK = Path(__file__).resolve().parents[1]
CHANGED = 10
PEOPLE = {Manner.CAREFUL: 6, Manner.CARELESS: 2, Manner.ALWAYS_YES: 1, Manner.BY_CHANCE: 1}
GOLD = 50
#: The least recall and precision of the table, on sites that the model was trained on.
MIN_QUALITY = 0.85
#: The longest time from the end of the annotation to the scores of the last answers.
_MAX_SCORING_SECONDS = 60.0


@dataclass
class _StagePrinter:
    """A printer of stages with the time that has passed."""

    started: float

    def print_stage(self, what: str) -> None:
        """Print a stage."""
        out.print(f"{time.monotonic() - self.started:4.0f} s  {what}")


@contextmanager
def serve_small_web(folder: Path, sites: int, seed: int) -> Iterator[dict[str, Any]]:
    """Serve a small web, and yield its description.

    Raises:
        OSError: The server does not start.
    """
    program = Path(sys.executable).parent / "mt-web"
    arguments = ["--sites", str(sites), "--seed", str(seed), "--folder", str(folder)]
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL) as server:
        try:
            while not (folder / WEB).exists():
                if server.poll() is not None:
                    raise OSError("the small web does not start; see above")
                time.sleep(0.05)
            yield json.loads((folder / WEB).read_bytes())
        finally:
            server.terminate()


def _change_sites(web: Mapping[str, Any], sites: int) -> list[str]:
    """Change some sites, and return the ids of their parishes."""
    answer = send_request("POST", f"{web['change']}?sites={sites}", timeout=30)
    changed: list[str] = answer.raise_for_status().json()
    return changed


async def _put_gold(connection: Connection, folder: Path, seed: int) -> dict[Any, bool]:
    """Upload gold items, and return their answers."""
    items = make_gold_items(GOLD, seed=seed)
    path = folder / "gold.jsonl"
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    await asyncio.to_thread(path.write_text, lines, encoding="utf-8")
    await put_asset(connection, "mt-gold", collect_files([path]), note="of another web")
    return {(item["text"], *item["mark"]): item["answer"] == "yes" for item in items}


async def _annotate(
    connection: Connection, knowledge: Mapping[Any, bool], seed: int
) -> dict[str, Any]:
    """Let people answer until the chain has ended, and return their counts."""
    chain = await wait_for_chain(connection, ANNOTATE)
    link = await create_link(connection)
    annotators = make_annotators(PEOPLE, knowledge, seed)
    stop = asyncio.Event()
    answer_task = asyncio.create_task(answer_all(annotators, link, stop))
    progress_task = asyncio.create_task(print_progress_forever(connection))
    chain_task = asyncio.create_task(wait_until_finished(connection, chain))
    try:
        await asyncio.wait([answer_task, chain_task], return_when=asyncio.FIRST_COMPLETED)
        if not chain_task.done():
            answer_task.result()
        await chain_task
    finally:
        stop.set()
        progress_task.cancel()
        chain_task.cancel()
        await asyncio.gather(answer_task, progress_task, chain_task, return_exceptions=True)
    cheats = {annotator.name for annotator in annotators if annotator.manner.cheats}
    excluded = await _wait_until_excluded(connection, cheats)
    return {
        "answers": sum(annotator.answer_count for annotator in annotators),
        "people": len(annotators),
        "cheats": len(cheats),
        "cheats_found": len(cheats & excluded),
        "honest_excluded": len(excluded - cheats),
    }


async def _wait_until_excluded(connection: Connection, cheats: set[str]) -> set[str]:
    """Return the excluded browsers when all cheats are among them, or after a minute.

    The last answers are scored after the chain has ended.
    """
    deadline = time.monotonic() + _MAX_SCORING_SECONDS
    while True:
        excluded = {
            browser.user_agent
            for browser in (await get_browsers(connection)).browsers
            if browser.state is BrowserState.EXCLUDED
        }
        if cheats <= excluded or time.monotonic() > deadline:
            return excluded
        await asyncio.sleep(0.5)


async def _train(connection: Connection, folder: Path, items: int) -> None:
    """Wait for the training chain, which the annotations start, and fetch its results.

    ``items`` is the number of annotations that start it.
    """
    crawled = folder / "first"
    for name in ("candidates", "orders"):
        await put_asset(connection, f"mt-{name}", collect_files([crawled / name]), note="first run")
    parishes = collect_files([folder / "web" / "parishes"])
    await put_asset(connection, "mt-parishes", parishes, note="of the diocese")
    await publish(connection, PACK / "train.cwl", files=str(items))
    chain = await wait_until_finished(connection, await wait_for_chain(connection, "train"))
    await fetch_outputs(connection, chain, folder / "learned")
    model = [folder / "learned" / "model" / "model.pt", folder / "learned" / "measures"]
    await put_asset(connection, "mt-model", collect_files(model), note="of all answers so far")


def _measure_table(folder: Path, truth: Path) -> dict[str, Any]:
    path = folder / "learned" / "parquet" / "masses.parquet"
    rows = read_table(path)
    measures = measure(rows, read_truth(truth))
    return {
        "recall": measures["both"]["recall"],
        "precision": measures["both"]["precision"],
        "rules_alone": {name: measures["rules"][name] for name in ("recall", "precision")},
        "table": {
            "path": str(path),
            "sha256": sha256(path.read_bytes()).hexdigest(),
            "rows": len(rows),
        },
    }


def _summarise_crawl(folder: Path) -> dict[str, Any]:
    sites = read_summaries(folder)
    lines = [path.read_bytes().count(b"\n") for path in (folder / "candidates").iterdir()]
    return {
        "parishes": len(sites),
        "pages": sum(site["pages"] for site in sites),
        "bytes": sum(site["bytes"] for site in sites),
        "candidates": sum(lines),
    }


async def _run_demo(
    url: str, folder: Path, web: Mapping[str, Any], arguments: argparse.Namespace
) -> dict[str, Any]:
    stages = _StagePrinter(time.monotonic())
    parishes = sorted((folder / "web" / "parishes").iterdir())
    truth = folder / "truth.json"
    shutil.copy(folder / "web" / "truth.json", truth)
    async with connected(url) as connection:
        knowledge = await _put_gold(connection, folder, arguments.seed)
        for name in ("crawl", ANNOTATE):
            await publish(connection, PACK / f"{name}.cwl")
        chain = await wait_until_finished(
            connection, await start_crawl(connection, parishes, "parishes")
        )
        first = folder / "first"
        await fetch_outputs(connection, chain, first)
        summary = _summarise_crawl(first)
        stages.print_stage(
            f"{summary['pages']} pages of {summary['parishes']} parishes are crawled"
        )
        knowledge |= read_true_answers(truth, sorted((first / "candidates").iterdir()))
        summary |= await _annotate(connection, knowledge, arguments.seed)
        stages.print_stage(f"{summary['answers']} answers of {summary['people']} people are in")
        await _train(connection, folder, len(list((first / "items").iterdir())))
        summary |= await asyncio.to_thread(_measure_table, folder, truth)
        stages.print_stage(f"a table of {summary['table']['rows']} times is there")
        changed = await asyncio.to_thread(_change_sites, web, CHANGED)
        again = await start_crawl(
            connection, parishes, "parishes-again", known_pages=first / "known_pages"
        )
        await fetch_outputs(
            connection, await wait_until_finished(connection, again), folder / "second"
        )
        fetched = [site["id"] for site in read_summaries(folder / "second") if site["pages"]]
        summary["second_run"] = {"fetched": len(fetched), "changed": len(changed)}
        stages.print_stage(f"of {len(changed)} sites that changed {len(fetched)} are taken again")
        summary["_only_changed"] = sorted(fetched) == sorted(changed)
    return summary


def find_problems(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each result that is not as expected."""
    if summary["cheats_found"] < summary["cheats"] or summary["honest_excluded"]:
        yield (
            f"{summary['cheats_found']} of {summary['cheats']} cheats were found,"
            f" and {summary['honest_excluded']} others taken for some"
        )
    for name in ("recall", "precision"):
        if (summary[name] or 0.0) < MIN_QUALITY:
            yield f"the {name} of the table is {summary[name]}, below {MIN_QUALITY}"
    if (summary["recall"] or 0.0) < (summary["rules_alone"]["recall"] or 0.0):
        yield "the rules alone find more"
    if not summary["table"]["rows"]:
        yield "the table has no rows"
    if not summary["_only_changed"]:
        yield f"the second run took other sites than those that changed: {summary['second_run']}"


def _print_summary(summary: Mapping[str, Any]) -> None:
    rules, second = summary["rules_alone"], summary["second_run"]
    print_table(
        ["what", "", "by the rules alone"],
        [
            ("parishes", summary["parishes"], ""),
            ("pages", summary["pages"], ""),
            ("candidates", summary["candidates"], ""),
            ("answers", summary["answers"], ""),
            ("cheats found", f"{summary['cheats_found']} of {summary['cheats']}", ""),
            ("recall", _format_share(summary["recall"]), _format_share(rules["recall"])),
            ("precision", _format_share(summary["precision"]), _format_share(rules["precision"])),
            ("times in the table", summary["table"]["rows"], ""),
            ("taken by the second run", f"{second['fetched']} of {second['changed']} changed", ""),
        ],
        empty="",
    )
    out.print(f"{summary['status']}: {summary['seconds']:.0f} s; {summary['table']['path']}")


def _format_share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


@contextmanager
def _open_system(arguments: argparse.Namespace, folder: Path) -> Iterator[str]:
    """Yield the address of the given system, or of an own one that is stopped at the end."""
    if arguments.url:
        yield arguments.url.rstrip("/")
        return
    options = ["--port", "0", "--pilots", "2"]
    with demonstration_system(folder, options, keep=arguments.keep, settings=SETTINGS) as url:
        out.print(f"Sluice is up at {url}")
        yield url
    if arguments.keep:
        out.print(f"Sluice is still up: `sluice down --home {folder / SYSTEM}` stops it")


def _run(arguments: argparse.Namespace, folder: Path) -> int:
    started = time.monotonic()
    with (
        serve_small_web(folder / "web", arguments.sites, arguments.seed) as web,
        _open_system(arguments, folder) as url,
    ):
        summary = asyncio.run(_run_demo(url, folder, web, arguments))
    problems = list(find_problems(summary))
    state = ChainState.FAILED if problems else ChainState.FINISHED
    seconds = round(time.monotonic() - started, 1)
    public_summary = {name: value for name, value in summary.items() if not name.startswith("_")}
    public_summary = {"status": state.value, **public_summary, "seconds": seconds}
    (folder / "summary.json").write_text(
        json.dumps(public_summary, indent=2) + "\n", encoding="utf-8"
    )
    _print_summary(public_summary)
    for sentence in problems:
        err.print(f"error: {sentence}")
    return 1 if problems else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run `python -m masstimes.demo` and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    add_demo_options(parser, seed_subject="the small web, the annotators and the model")
    add = parser.add_argument
    add(
        "--sites",
        type=positive,
        default=60,
        metavar="N",
        help="Number of parish sites in the small web (default: %(default)s)",
    )
    add(
        "--url",
        help="Use the running system at this address instead of starting one; set SLUICE_DMS_URL"
        " to the address of its DMS (default: start a system)",
    )
    arguments = parser.parse_args(argv)
    try:
        require_torch()
        with demonstration_folder(arguments.home) as folder:
            return _run(arguments, folder)
    except ServiceError as error:
        print_problem(error)
    except OSError as error:
        err.print(f"error: {os_error_sentence(error)}")
    except (DemoError, CommandError, LookupError) as error:
        err.print(f"error: {error}")
    except httpx.HTTPError as error:
        err.print(f"error: the small web does not answer: {reason_of(error)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
