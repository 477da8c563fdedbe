"""The documents in docs/reference match the code."""

from pathlib import Path

import pytest

from scripts.docs.service_pages import service_page_path
from scripts.generate_docs import REFERENCE, find_differences, list_leftovers, main, makers
from sluice.contracts.access.services import SERVICES
from sluice.contracts.messaging.messages import EVENTS, PAYLOADS
from sluice.contracts.messaging.queues import QUEUES


@pytest.mark.parametrize("path", makers(), ids=str)
def test_generated_document_is_up_to_date(path: Path) -> None:
    differences = find_differences(path, makers()[path]())
    assert not differences, f"run `make docs` and look at what it changes:\n{differences}"


def test_no_document_remains_of_a_removed_service() -> None:
    assert not list_leftovers()


@pytest.mark.parametrize("path", makers(), ids=str)
def test_generated_documents_do_not_depend_on_the_machine(path: Path) -> None:
    text = makers()[path]()
    assert text == makers()[path]()
    assert str(Path.cwd()) not in text
    assert str(Path.home()) + "/" not in text


def test_check_of_documents_names_the_file_that_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.md"
    file.write_text("old\n")
    monkeypatch.setattr("scripts.generate_docs.makers", lambda: {file: lambda: "new\n"})
    monkeypatch.setattr("scripts.generate_docs.list_leftovers", set)
    assert main(["--check"]) == 1
    assert "-old\n+new" in capsys.readouterr().err
    assert main([]) == 0
    assert file.read_text() == "new\n"
    assert main(["--check"]) == 0


def test_every_message_has_a_sender_and_every_queue_has_one_consumer() -> None:
    """A queue without a consumer fills forever. The check reads the code of the services."""
    from scripts.docs.interfaces import list_received_queues, list_sent_messages  # noqa: PLC0415 - builds every service

    assert {name for service in SERVICES for name in list_sent_messages(service)} == PAYLOADS.keys()
    readers = [queue for service in SERVICES for queue in list_received_queues(service)]
    assert sorted(readers) == sorted(QUEUES), "each queue has one consumer"
    assert PAYLOADS.keys() >= EVENTS


@pytest.mark.parametrize("service", SERVICES)
def test_page_of_a_service_lists_all_its_use_cases(service: str) -> None:
    """The modules may be in folders below ``usecases``, or in several such folders."""
    modules = [
        path
        for path in Path(*service.split(".")).rglob("*.py")
        if "usecases" in path.parts and path.name != "__init__.py"
    ]
    page = service_page_path(service).read_text(encoding="utf-8")
    missing = [str(path) for path in modules if f"](../../../{path})" not in page]
    assert modules
    assert missing == []


def test_docs_readme_links_every_generated_document() -> None:
    readme = Path("docs/README.md").read_text(encoding="utf-8")
    missing = [
        str(path)
        for path in makers()
        if path.parent == REFERENCE and str(path.relative_to("docs")) not in readme
    ]
    assert not missing
    assert "reference/openapi" in readme
