"""Settings and messages are explained, every page is reachable, and links and names are valid."""

import re
import tomllib
from pathlib import Path

import pytest

from scripts.docs.settings_reference import list_settings, processes
from sluice.contracts.messaging.messages import PAYLOADS
from tests.architecture.named_in_pages import find_unknown_commands, find_unknown_settings
from tests.architecture.sources import ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
#: A path of the repository between backticks.
FILE = re.compile(r"`((?:sluice|dms|wms|wfms|pilot|tests|scripts|templates|docs|stack)/[\w./-]+)`")
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "templates").rglob("*.md"),
    ]
)

DECISIONS = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))


@pytest.mark.parametrize("process", processes())
def test_every_setting_has_an_explanation(process: str) -> None:
    settings = list_settings(processes()[process])
    assert settings
    assert not [setting.variable for setting in settings if not setting.meaning]


def test_every_message_payload_has_a_docstring() -> None:
    assert not [name for name, payload in PAYLOADS.items() if not payload.__doc__]


def test_list_of_decisions_links_every_decision() -> None:
    folder = ROOT / "docs/adr"
    linked = set(LINK.findall((folder / "README.md").read_text(encoding="utf-8")))
    assert {path.name for path in DECISIONS} <= linked


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))


def test_decision_has_its_number_date_and_status() -> None:
    for page in DECISIONS:
        title, _, status, *_ = page.read_text(encoding="utf-8").splitlines()
        assert title.startswith(f"# {int(page.name[:4])}. ")
        assert re.fullmatch(
            r"\*\*Date:\*\* \d{4}-\d\d-\d\d"
            r" · \*\*Status:\*\* (accepted|superseded by \[.*\]\(.*\.md\))",
            status,
        ), page


def test_newest_changelog_section_is_the_project_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    [newest, *_] = re.findall(r"^## ([\d.]+)", changes, re.MULTILINE)
    assert newest == project["version"]


def test_relative_links_of_pages_lead_to_files() -> None:
    broken = {
        page: [
            target
            for target in LINK.findall(text)
            if "://" not in target and not (page.parent / target).exists()
        ]
        for page, text in _read_pages().items()
    }
    assert _drop_empty(broken) == {}


def test_commands_and_settings_named_in_pages_exist() -> None:
    unknown = {
        page: [*find_unknown_commands(text), *find_unknown_settings(text)]
        for page, text in _read_pages().items()
    }
    assert _drop_empty(unknown) == {}


def test_map_of_the_tree_names_every_package() -> None:
    text = (ROOT / "docs/how-to/change-sluice.md").read_text(encoding="utf-8")
    tree_map = text[text.index("## The map") : text.index("## The life of a data set")]
    packages = {path.parent.relative_to(ROOT) for path in (ROOT / "sluice").glob("*/__init__.py")}
    missing = [str(package) for package in packages if f"`{package}`" not in tree_map]
    assert packages
    assert missing == []


def test_files_named_in_pages_exist() -> None:
    missing = {
        page: [name for name in FILE.findall(text) if not (ROOT / name).exists()]
        for page, text in _read_pages().items()
    }
    assert _drop_empty(missing) == {}


def test_settings_named_in_messages_and_comments_exist() -> None:
    unknown_names = {
        path: [*find_unknown_settings(path.read_text(encoding="utf-8"))]
        for package in ("sluice", "dms", "wms", "wfms", "pilot")
        for path in (ROOT / package).rglob("*.py")
    }
    assert _drop_empty(unknown_names) == {}


def test_every_page_is_reachable_from_the_readme() -> None:
    visited_pages: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in visited_pages or page.suffix != ".md":
            continue
        visited_pages.add(page)
        ahead += [
            (page.parent / target).resolve()
            for target in LINK.findall(page.read_text(encoding="utf-8"))
            if "://" not in target
        ]
    assert not [str(page.relative_to(ROOT)) for page in PAGES if page not in visited_pages]


def _read_pages() -> dict[Path, str]:
    return {page: page.read_text(encoding="utf-8") for page in PAGES}


def _drop_empty(names_by_path: dict[Path, list[str]]) -> dict[str, list[str]]:
    return {str(path.relative_to(ROOT)): names for path, names in names_by_path.items() if names}
