"""The commands of README, tutorials and how-tos work as the pages say."""

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from sluice.clientkit.connection import running_url
from sluice.network.credentials import headers_for, token_for
from tests.e2e.documents import ROOT, PageReader, read_commands, read_output_blocks
from tests.e2e.stack_system import StackSystem
from tests.waiting import eventually

ON_EMBEDDED = pytest.mark.xdist_group("e2e-documents")
ON_STACK = pytest.mark.xdist_group("e2e-stack")
REPEATED_ON_EMBEDDED = pytest.mark.long("the same commands run on the embedded system")

#: Their commands need a container engine; ``tests/deploy`` compares them with the code.
CONTAINERS = {"run-in-production", "back-up-and-restore"}
#: ``test_up_and_down`` tests how systems start and stop; the readers of this page have a running
#: system.
PAGES_WITH_OWN_SYSTEM = {"run-on-one-machine"}
#: ``tests/wheel`` writes the files of this page and runs its commands.
PAGES_WITH_FILES = {"write-a-pack"}
#: Pages that show no commands.
WITHOUT_COMMANDS = {"ask-people", "change-sluice", "collect-and-schedule", "contain-tools"}
#: Tutorials with the same commands as the others, which run only in ``make test-long``.
LONG_TUTORIALS = {"from-a-script"}
TUTORIALS = [
    pytest.param(
        page,
        id=page.stem,
        marks=[pytest.mark.long("the tutorial and the how-to pages show the same commands")]
        if page.stem in LONG_TUTORIALS
        else [],
    )
    for page in sorted((ROOT / "docs/tutorial").glob("*.md"))
]
HOW_TOS = sorted(
    page
    for page in (ROOT / "docs/how-to").glob("*.md")
    if page.stem not in CONTAINERS | PAGES_WITH_OWN_SYSTEM | PAGES_WITH_FILES | WITHOUT_COMMANDS
)


#: Commands that manage a local system.
OWN_SYSTEM = re.compile(r"^(export SLUICE_URL=\$\()?sluice (up|down|status)\b.*$", re.MULTILINE)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[PageReader]:
    reader = PageReader.create(tmp_path)
    yield reader
    if running_url(reader.home):
        reader.activate_environment("sluice down")


@pytest.fixture(scope="module")
def running_reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageReader]:
    """Return a reader whose system is running, for pages that assume one."""
    reader = PageReader.create(tmp_path_factory.mktemp("how-to"))
    reader.activate_environment("sluice up --detach")
    yield reader
    reader.activate_environment("sluice down")


@pytest.fixture
def stack_reader(tmp_path: Path, stack: StackSystem) -> PageReader:
    """Return a reader on a machine from which the stack can be reached."""
    stack.start_again()
    return PageReader.create(
        tmp_path,
        SLUICE_URL=stack.url,
        SLUICE_DMS_URL=stack.dms_url,
        SLUICE_TOKEN=str(token_for(stack.url)),
    )


@ON_EMBEDDED
def test_commands_of_the_readme_count_words(reader: PageReader) -> None:
    install, rest = read_commands(ROOT / "README.md").split("\n", 1)
    assert install == "make install"
    reader.run(install, folder=ROOT)
    before, down, after = rest.partition("sluice down")
    assert down
    assert not after.strip()

    printed = reader.run(before)

    assert "14 the" in printed
    manifest = json.loads((reader.folder / "out/manifest.json").read_text())
    assert [output["name"] for output in manifest["outputs"]] == ["counts.txt"]
    assert re.search(r"wordcount \(run\)\s.*finished", printed), "the list has the chain"
    url = re.search(r"ready at (http://\S+)", printed)
    assert url is not None
    page = httpx.get(url[1], follow_redirects=True, headers=headers_for(url[1]))
    assert page.status_code == httpx.codes.OK
    assert "text/html" in page.headers["content-type"]
    assert "stopped" in reader.activate_environment(down)


@ON_EMBEDDED
@pytest.mark.parametrize("page", TUTORIALS)
def test_commands_of_a_tutorial_print_what_the_page_shows(page: Path, reader: PageReader) -> None:
    """Run all ``bash`` blocks of the page as one script; the fixture stops the system."""
    script, down, rest = read_commands(page).partition("sluice down\n")
    assert down
    assert not rest.strip(), "a tutorial ends with sluice down"

    printed = reader.activate_environment(script)

    check_shown(page, printed)
    if check := AFTERWARDS.get(page.stem):
        check(reader, printed)


@pytest.mark.parametrize(
    "page",
    [ROOT / f"docs/how-to/{name}.md" for name in sorted(WITHOUT_COMMANDS)],
    ids=lambda page: page.stem,
)
def test_pages_outside_the_list_have_no_commands(page: Path) -> None:
    assert read_commands(page) == ""


def check_shown(page: Path, printed: str) -> None:
    """Check that the commands printed the page's ``text`` blocks in their order."""
    rest = printed
    for block in read_output_blocks(page):
        assert block in rest, f"the output shown on the page was not printed:\n{block}\nbut\n{rest}"
        rest = rest.split(block, 1)[1]


def check_registered_data_set(reader: PageReader, printed: str) -> None:
    """Wait until the registered data set of the tutorial is processed."""
    url = re.search(r"ready at (http://\S+)", printed)
    assert url is not None

    async def is_processed() -> bool:
        async with httpx.AsyncClient(follow_redirects=True, headers=headers_for(url[1])) as http:
            page = await http.get(f"{url[1]}/chains")
        assert page.status_code == httpx.codes.OK
        listed = reader.activate_environment("sluice chain list")
        return (
            "week-1" in page.text and re.search(r"week-1\s+report 1\s+finished", listed) is not None
        )

    asyncio.run(eventually(is_processed, what="the registered data set is processed"))


@ON_STACK
@REPEATED_ON_EMBEDDED
def test_commands_of_the_tutorial_count_words_on_the_stack(stack_reader: PageReader) -> None:
    script = OWN_SYSTEM.sub("", read_commands(ROOT / "docs/tutorial/README.md"))
    check_word_counts(stack_reader, stack_reader.activate_environment(script))


def check_word_counts(reader: PageReader, printed: str) -> None:
    assert "2 steps: words (map), count (merge)" in printed
    assert "bad.txt" in printed, "the output names the failed file"
    assert (reader.folder / "choosy/out/counts.txt").read_text().split() == [
        "2",
        "a",
        "1",
        "line",
        "1",
        "with",
        "1",
        "word",
    ]


#: Name of a tutorial → an additional check, which gets the output of the commands.
AFTERWARDS: dict[str, Callable[[PageReader, str], None]] = {
    "README": check_word_counts,
    "from-a-script": check_registered_data_set,
}


@ON_EMBEDDED
@pytest.mark.long("the commands of README and tutorial run each time")
@pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.stem)
def test_commands_of_a_how_to_print_the_answers_of_the_page(
    page: Path, running_reader: PageReader
) -> None:
    check_answers(page, follow_how_to(running_reader, read_commands(page)))


@ON_STACK
@REPEATED_ON_EMBEDDED
@pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.stem)
def test_commands_of_a_how_to_print_the_answers_of_the_page_on_the_stack(
    page: Path, stack_reader: PageReader
) -> None:
    check_answers(page, follow_how_to(stack_reader, OWN_SYSTEM.sub("", read_commands(page))))


def check_answers(page: Path, printed: str) -> None:
    """Compare the ``json`` blocks of a page with the first answer.

    The page omits fields and the ends of long sentences (…).
    """
    for block in re.findall(r"^```json\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        shown = json.loads(block)
        answer, _ = json.JSONDecoder().raw_decode(printed[printed.index("{") :])
        assert {key: answer[key] for key in ("type", "title", "status")} == {
            key: shown[key] for key in ("type", "title", "status")
        }
        beginnings = [one["message"].partition("…")[0] for one in shown["findings"]]
        assert len(answer["findings"]) == len(beginnings)
        assert all(
            one["message"].startswith(start)
            for one, start in zip(answer["findings"], beginnings, strict=True)
        )


def follow_how_to(reader: PageReader, script: str) -> str:
    assert script
    assert "curl" not in script or shutil.which("curl"), "the commands of this page need curl"
    return reader.activate_environment(script)
