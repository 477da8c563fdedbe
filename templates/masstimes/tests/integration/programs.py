"""Run the programs of the pack on handwritten sites."""

import json
from pathlib import Path
from typing import Any

from masstimes import commands
from masstimes.table import command, measure_command

from templates.masstimes.tests.integration.by_hand import get_truth_file, list_crawled_pages
from templates.masstimes.tests.unit.contexts import write


def run_programs(kind: str, folder: Path) -> tuple[Path, Path]:
    """Return the files of candidates and of orders."""
    source = write(folder / "pages", list_crawled_pages(kind))
    for main, name in (
        (commands.text_main, "texts"),
        (commands.filter_main, "wanted"),
        (commands.hours_main, "candidates"),
    ):
        assert main([str(source), "--out", str(folder / name)]) == 0
        source = folder / name
    assert commands.rules_main([str(folder / "wanted"), "--out", str(folder / "orders")]) == 0
    return folder / "candidates", folder / "orders"


def measure_model(
    kind: str, folder: Path, *, orders: Path, classified: Path | None
) -> dict[str, Any]:
    table, out = str(folder / "t.parquet"), folder / "found.json"
    inputs = ["--orders", str(orders)]
    inputs += ["--candidates", str(classified)] if classified else []
    assert command.main([*inputs, "--parquet", table, "--csv", str(folder / "t.csv")]) == 0
    command_line = ["--table", table, "--truth", str(get_truth_file(kind)), "--out", str(out)]
    assert measure_command.main(command_line) == 0
    result: dict[str, Any] = json.loads(out.read_text())
    return result
