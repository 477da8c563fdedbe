"""Write the generated part of ``docs/`` and the services' ``schema.sql``.

With ``--check``, only print the differences and exit with 1. Run it in the repository's root.
"""

import difflib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.docs import (
    access,
    client_modules,
    command_line,
    cwl_features,
    interfaces,
    life_cycles,
    metrics,
    schemas,
    service_pages,
    settings_reference,
)
from sluice.contracts.access.services import SERVICES

REFERENCE = Path("docs/reference")


def makers() -> dict[Path, Callable[[], str]]:
    """Map each file to the function that makes its text.

    The same code makes the same text: it has no dates and no paths of this machine.
    """
    return {
        # The documents of the operator service need this one.
        Path("wfms/operator/gateway/forwarded.json"): interfaces.forwarded_document,
        **client_modules.client_modules(),
        REFERENCE / "life-cycles.md": life_cycles.life_cycles_page,
        REFERENCE / "settings.md": settings_reference.settings_page,
        REFERENCE / "metrics.md": metrics.metrics_page,
        REFERENCE / "cwl-features.md": cwl_features.cwl_features_page,
        REFERENCE / "command-line.md": command_line.command_line_page,
        REFERENCE / "access.md": access.access_page,
        REFERENCE / "asyncapi.json": interfaces.asyncapi_document,
        **{schemas.schema_path(service): _schema(service) for service in SERVICES},
        **{service_pages.service_page_path(service): _page(service) for service in SERVICES},
        **{REFERENCE / "openapi" / f"{service}.json": _openapi(service) for service in SERVICES},
    }


def _openapi(service: str) -> Callable[[], str]:
    return lambda: interfaces.openapi_document(service)


def _page(service: str) -> Callable[[], str]:
    return lambda: service_pages.service_page(service)


def _schema(service: str) -> Callable[[], str]:
    return lambda: schemas.schema_text(service)


def find_differences(path: Path, generated: str) -> str:
    """Return a unified diff from the file to the generated text; empty if they are equal."""
    current = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(
        current.splitlines(),
        generated.splitlines(),
        str(path),
        f"{path} (made from the code)",
        lineterm="",
        n=1,
    )
    return "\n".join(lines)


def list_outdated() -> Iterator[str]:
    """Return the differences of all outdated files, and the names of leftover files."""
    for path, make in makers().items():
        if difference := find_differences(path, make()):
            yield difference
    yield from (
        f"{path}: no function makes this file; delete it" for path in sorted(list_leftovers())
    )


def list_leftovers() -> set[Path]:
    """Return the files that no function makes."""
    existing = {
        *(REFERENCE / "openapi").glob("*.json"),
        *(REFERENCE / "services").glob("*.md"),
        *client_modules.FOLDER.glob("*.py"),
    }
    return existing - makers().keys()


def write() -> None:
    """Write all files, and delete leftover files."""
    for path, make in makers().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(), encoding="utf-8")
    for path in list_leftovers():
        path.unlink()


def main(arguments: list[str]) -> int:
    """Write or check the files, and return the exit status."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: generate_docs.py [--check]\n")
        return 2
    if not arguments:
        write()
        return 0
    outdated_texts = list(list_outdated())
    for text in outdated_texts:
        sys.stderr.write(text + "\n")
    if outdated_texts:
        sys.stderr.write("generated documentation is not up to date: run `make docs`\n")
    return 1 if outdated_texts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
