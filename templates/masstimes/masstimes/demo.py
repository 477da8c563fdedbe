"""Crawl a small web, let people label its mass times, train a model, and make a table of them.

`make masstimes-demo` runs this program. Then ten sites change, and the second run takes only those.

The web and the people are simulated. All else is the real system: templates that start when data
sets come and grow, and the page for annotators. The figures come from the system's answers and
files, compared with the truth, which no step sees.
"""

from __future__ import annotations

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
from pack_command import CommandError, positive

from masstimes.annotators import Manner, answer_all, people
from masstimes.classifier.torch_needed import need_torch
from masstimes.demo_chains import (
    ANNOTATE,
    WentWrong,
    begin_crawl,
    begun,
    devices,
    ended,
    fetch,
    make_link,
    publish,
    summaries,
    tell_always,
)
from masstimes.demo_settings import SETTINGS
from masstimes.knowledge import gold, known_of
from masstimes.small_web.commands import WEB
from masstimes.table.files import read_table
from masstimes.table.measure_command import measured, read_truth
from sluice.cli.connection import Connection, connected
from sluice.cli.output import err, out, print_problem, print_table
from sluice.cli.transfer.assets import files_of, put_asset
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState, DeviceState
from sluice.embedded.demonstration import SYSTEM, demonstration_folder, demonstration_system
from sluice.network.http_clients import send_request
from sluice.text.os_errors import reason_of, sentence_of

PACK = Path(__file__).resolve().parents[1]
CHANGED = 10
PEOPLE = {Manner.CAREFUL: 6, Manner.CARELESS: 2, Manner.ALWAYS_YES: 1, Manner.BY_CHANCE: 1}
GOLD = 50
#: The least recall and precision of the table, on sites that the model was trained on.
LEAST = 0.85


@dataclass
class _Stages:
    """A printer of stages with the time that has passed."""

    started: float

    def tell(self, what: str) -> None:
        """Print a stage."""
        out.print(f"{time.monotonic() - self.started:4.0f} s  {what}")


@contextmanager
def small_web(folder: Path, sites: int, seed: int) -> Iterator[dict[str, Any]]:
    """Serve a small web, and yield its description.

    Raises:
        OSError: The server does not start.
    """
    program = Path(sys.executable).parent / "mt-web"
    arguments = ["--sites", str(sites), "--seed", str(seed), "--folder", str(folder)]
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL) as serving:
        try:
            while not (folder / WEB).exists():
                if serving.poll() is not None:
                    raise OSError("the small web does not start; see above")
                time.sleep(0.05)
            yield json.loads((folder / WEB).read_bytes())
        finally:
            serving.terminate()


def _change(web: Mapping[str, Any], sites: int) -> list[str]:
    """Change some sites, and return the ids of their parishes."""
    answer = send_request("POST", f"{web['change']}?sites={sites}", timeout=30)
    changed: list[str] = answer.raise_for_status().json()
    return changed


async def _put_gold(connection: Connection, folder: Path, seed: int) -> dict[Any, bool]:
    """Upload gold items, and return their answers."""
    items = gold(GOLD, seed=seed)
    path = folder / "gold.jsonl"
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    await asyncio.to_thread(path.write_text, lines, encoding="utf-8")
    await put_asset(connection, "mt-gold", files_of([path]), note="of another web")
    return {(item["text"], *item["mark"]): item["answer"] == "yes" for item in items}


async def _annotate(
    connection: Connection, knowledge: Mapping[Any, bool], seed: int
) -> dict[str, Any]:
    """Let people answer until the chain has ended, and return their counts."""
    chain = await begun(connection, ANNOTATE)
    link = await make_link(connection)
    everybody = people(PEOPLE, knowledge, seed)
    stop = asyncio.Event()
    answering = asyncio.create_task(answer_all(everybody, link, stop))
    telling = asyncio.create_task(tell_always(connection))
    chain_ends = asyncio.create_task(ended(connection, chain))
    try:
        await asyncio.wait([answering, chain_ends], return_when=asyncio.FIRST_COMPLETED)
        if not chain_ends.done():
            answering.result()
        await chain_ends
    finally:
        stop.set()
        telling.cancel()
        chain_ends.cancel()
        await asyncio.gather(answering, telling, chain_ends, return_exceptions=True)
    excluded = {
        device.browser
        for device in (await devices(connection)).devices
        if device.standing is DeviceState.EXCLUDED
    }
    cheats = {one.name for one in everybody if one.manner.cheats}
    return {
        "answers": sum(one.given for one in everybody),
        "people": len(everybody),
        "cheats": len(cheats),
        "cheats_found": len(cheats & excluded),
        "honest_excluded": len(excluded - cheats),
    }


async def _train(connection: Connection, folder: Path, items: int) -> None:
    """Wait for the training chain, which the annotations start, and fetch its results.

    ``items`` is the number of annotations that start it.
    """
    crawled = folder / "first"
    for name in ("candidates", "orders"):
        await put_asset(connection, f"mt-{name}", files_of([crawled / name]), note="first run")
    parishes = files_of([folder / "web" / "parishes"])
    await put_asset(connection, "mt-parishes", parishes, note="of the diocese")
    await publish(connection, PACK / "train.cwl", files=str(items))
    chain = await ended(connection, await begun(connection, "train"))
    await fetch(connection, chain, folder / "learned")
    model = [folder / "learned" / "model" / "model.pt", folder / "learned" / "measures"]
    await put_asset(connection, "mt-model", files_of(model), note="of all answers so far")


def _table(folder: Path, truth: Path) -> dict[str, Any]:
    path = folder / "learned" / "parquet" / "masses.parquet"
    rows = read_table(path)
    found = measured(rows, read_truth(truth))
    return {
        "recall": found["both"]["recall"],
        "precision": found["both"]["precision"],
        "rules_alone": {name: found["rules"][name] for name in ("recall", "precision")},
        "table": {
            "path": str(path),
            "sha256": sha256(path.read_bytes()).hexdigest(),
            "rows": len(rows),
        },
    }


def _crawled(folder: Path) -> dict[str, Any]:
    of_sites = summaries(folder)
    lines = [path.read_bytes().count(b"\n") for path in (folder / "candidates").iterdir()]
    return {
        "parishes": len(of_sites),
        "pages": sum(site["pages"] for site in of_sites),
        "bytes": sum(site["bytes"] for site in of_sites),
        "candidates": sum(lines),
    }


async def _carry(
    url: str, folder: Path, web: Mapping[str, Any], arguments: argparse.Namespace
) -> dict[str, Any]:
    stages = _Stages(time.monotonic())
    parishes = sorted((folder / "web" / "parishes").iterdir())
    truth = folder / "truth.json"
    shutil.copy(folder / "web" / "truth.json", truth)
    async with connected(url) as connection:
        knowledge = await _put_gold(connection, folder, arguments.seed)
        for name in ("crawl", ANNOTATE):
            await publish(connection, PACK / f"{name}.cwl")
        chain = await ended(connection, await begin_crawl(connection, parishes, "parishes"))
        first = folder / "first"
        await fetch(connection, chain, first)
        summary = _crawled(first)
        stages.tell(f"{summary['pages']} pages of {summary['parishes']} parishes are crawled")
        knowledge |= known_of(truth, sorted((first / "candidates").iterdir()))
        summary |= await _annotate(connection, knowledge, arguments.seed)
        stages.tell(f"{summary['answers']} answers of {summary['people']} people are in")
        await _train(connection, folder, len(list((first / "items").iterdir())))
        summary |= await asyncio.to_thread(_table, folder, truth)
        stages.tell(f"a table of {summary['table']['rows']} times is there")
        changed = await asyncio.to_thread(_change, web, CHANGED)
        again = await begin_crawl(
            connection, parishes, "parishes-again", known=first / "known_pages"
        )
        await fetch(connection, await ended(connection, again), folder / "second")
        taken = [site["id"] for site in summaries(folder / "second") if site["pages"]]
        summary["second_run"] = {"fetched": len(taken), "changed": len(changed)}
        stages.tell(f"of {len(changed)} sites that changed {len(taken)} are taken again")
        summary["_only_changed"] = sorted(taken) == sorted(changed)
    return summary


def wrong_with(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each result that is not as expected."""
    if summary["cheats_found"] < summary["cheats"] or summary["honest_excluded"]:
        yield (
            f"{summary['cheats_found']} of {summary['cheats']} cheats were found,"
            f" and {summary['honest_excluded']} others taken for some"
        )
    for name in ("recall", "precision"):
        if (summary[name] or 0.0) < LEAST:
            yield f"the {name} of the table is {summary[name]}, below {LEAST}"
    if (summary["recall"] or 0.0) < (summary["rules_alone"]["recall"] or 0.0):
        yield "the rules alone find more"
    if not summary["table"]["rows"]:
        yield "the table has no rows"
    if not summary["_only_changed"]:
        yield f"the second run took other sites than those that changed: {summary['second_run']}"


def _print(summary: Mapping[str, Any]) -> None:
    rules, second = summary["rules_alone"], summary["second_run"]
    print_table(
        ["what", "", "by the rules alone"],
        [
            ("parishes", summary["parishes"], ""),
            ("pages", summary["pages"], ""),
            ("candidates", summary["candidates"], ""),
            ("answers", summary["answers"], ""),
            ("cheats found", f"{summary['cheats_found']} of {summary['cheats']}", ""),
            ("recall", _share(summary["recall"]), _share(rules["recall"])),
            ("precision", _share(summary["precision"]), _share(rules["precision"])),
            ("times in the table", summary["table"]["rows"], ""),
            ("taken by the second run", f"{second['fetched']} of {second['changed']} changed", ""),
        ],
        empty="",
    )
    out.print(f"{summary['status']}: {summary['seconds']:.0f} s; {summary['table']['path']}")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


@contextmanager
def _system(arguments: argparse.Namespace, folder: Path) -> Iterator[str]:
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
        small_web(folder / "web", arguments.sites, arguments.seed) as web,
        _system(arguments, folder) as url,
    ):
        summary = asyncio.run(_carry(url, folder, web, arguments))
    wrong = list(wrong_with(summary))
    state = ChainState.FAILED if wrong else ChainState.FINISHED
    seconds = round(time.monotonic() - started, 1)
    told = {name: value for name, value in summary.items() if not name.startswith("_")}
    told = {"status": state.value, **told, "seconds": seconds}
    (folder / "summary.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    _print(told)
    for sentence in wrong:
        err.print(f"error: {sentence}")
    return 1 if wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run `python -m masstimes.demo` and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    add = parser.add_argument
    add("--home", type=Path, required=True, help="folder of the demonstration; emptied first")
    add("--sites", type=positive, default=60, help="default: %(default)s")
    add("--seed", type=int, default=1, help="of web, people and model")
    add("--keep", action="store_true", help="leave the system up at the end")
    add("--url", help="a running system, instead of one of its own; its DMS: SLUICE_DMS_URL")
    arguments = parser.parse_args(argv)
    try:
        need_torch()
        with demonstration_folder(arguments.home) as folder:
            return _run(arguments, folder)
    except ServiceError as error:
        print_problem(error)
    except OSError as error:
        err.print(f"error: {sentence_of(error)}")
    except (WentWrong, CommandError, LookupError) as error:
        err.print(f"error: {error}")
    except httpx.HTTPError as error:
        err.print(f"error: the small web does not answer: {reason_of(error)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
