"""The small web on a server, and crawls of it."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.waiting import wait_until

PROGRAMS = Path(sys.executable).parent
#: Factor of all delays, as the server answers within milliseconds.
DELAYS = 0.02


@dataclass(frozen=True)
class CrawlFolder:
    """A folder that `mt-crawl` wrote."""

    out: Path

    def pages(self, parish: str) -> list[dict[str, Any]]:
        return [
            json.loads(line) for line in (self.out / f"{parish}.jsonl").read_text().splitlines()
        ]

    def urls(self) -> list[str]:
        addresses = [
            page["url"] for path in self.out.glob("*.jsonl") for page in self.pages(path.stem)
        ]
        return sorted(addresses)

    def summary(self, parish: str) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads((self.out / f"{parish}.summary.json").read_text())
        return facts

    def total(self, name: str) -> int:
        paths = self.out.glob("*.summary.json")
        return sum(json.loads(path.read_text())[name] for path in paths)


@dataclass(frozen=True)
class ServedWeb:
    """The folder of a running `mt-web`."""

    folder: Path

    @property
    def truth(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads((self.folder / "truth.json").read_text())
        return facts

    def parishes(self, ids: Sequence[str]) -> list[str]:
        return [str(self.folder / "parishes" / f"{name}.json") for name in ids]

    def command(self, name: str, *options: str, parishes: Sequence[str] = ()) -> list[str]:
        """Return the command of a crawl whose user agent contains ``name``."""
        ids = parishes or sorted(self.truth["sites"])
        program, out = str(PROGRAMS / "mt-crawl"), str(self.folder / name)
        fixed = ("--out", out, "--contact", name, "--delays", str(DELAYS), "--timeout", "8")
        return [program, *self.parishes(ids), *fixed, *options]

    def crawl(self, name: str, *options: str, parishes: Sequence[str] = ()) -> CrawlFolder:
        subprocess.run(self.command(name, *options, parishes=parishes), check=True, timeout=300)
        return CrawlFolder(self.folder / name)

    def log(self, name: str) -> list[dict[str, Any]]:
        """Return the requests of the crawl ``name``, sorted by start."""
        text = (self.folder / "requests.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        return sorted(
            (line for line in lines if line["user_agent"].endswith(f"(+{name})")),
            key=lambda line: line["start"],
        )


@contextmanager
def run_web(folder: Path, *options: str) -> Iterator[ServedWeb]:
    command = [str(PROGRAMS / "mt-web"), "--folder", str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            wait_until((folder / "web.json").exists, what="the small web is running", seconds=120)
            yield ServedWeb(folder)
        finally:
            process.terminate()
