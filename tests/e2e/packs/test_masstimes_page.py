"""The commands of the page of mass times, from parishes to annotators and a later crawl."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sluice.clientkit.connection import running_url
from tests.e2e.documents import BLOCK, ROOT, PageReader
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("e2e-masstimes-page")

PAGE = ROOT / "templates/masstimes/README.md"
SITES = 6
#: What a person does to make gold items.
SORT = "cd some && mv $(ls | head -n 5) ../yes && mv $(ls | tail -n 5) ../no"
#: Beginnings of options beside which the test sets shorter delays.
REGISTERED, RUN = "-m contact=", "--param contact="


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[PageReader]:
    reader = PageReader.create(tmp_path, SLUICE_PILOT_SANDBOX="off")  # to reach 127.0.0.1
    web = tmp_path / "web"
    program = str(Path(sys.executable).with_name("mt-web"))
    options = ("--sites", str(SITES), "--no-traps", "--folder", str(web))
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as serving:
        wait_until((web / "web.json").exists, what="the small web is running", seconds=120)
        (reader.folder / "parishes").symlink_to(web / "parishes")
        yield reader
        serving.terminate()
    if running_url(reader.home):
        reader.activate_environment("sluice down")


def read_section_commands() -> list[str]:
    section = PAGE.read_text().partition("## From parishes to a table")[2].partition("\n## ")[0]
    return BLOCK.findall(section)


def test_commands_lead_from_parishes_to_items_and_a_later_crawl(reader: PageReader) -> None:
    crawl, ask, again = read_section_commands()
    crawl = crawl.replace(REGISTERED, f"-m delays=0.02 {REGISTERED}")
    again = again.replace(RUN, f"--param delays=0.02 {RUN}")
    reader.activate_environment(f"sluice up --detach\n{crawl}\n{SORT}")
    printed = reader.activate_environment(f"{ask}\nsluice asset list")
    stored = re.findall(r"^mt-(\S+)", printed.rpartition("train, version 1")[2], re.MULTILINE)
    assert sorted(stored) == ["candidates", "gold", "orders", "parishes"]
    gold = (reader.folder / "gold.jsonl").read_text().split("\n")
    assert [json.loads(line)["answer"] for line in gold if line] == ["yes"] * 5 + ["no"] * 5
    reader.activate_environment(again)
    ends = [
        json.loads(path.read_text())
        for path in (reader.folder / "crawled-2/summaries").glob("*.summary.json")
    ]
    assert [(each["ended"], each["pages"]) for each in ends] == [("done", 0)] * SITES
    assert all(each["unchanged"] for each in ends)
