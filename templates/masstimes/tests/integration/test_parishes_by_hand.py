"""Recall and precision of the programs on handwritten sites."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from templates.masstimes.tests.integration.by_hand import get_truth_file
from templates.masstimes.tests.integration.programs import measure_model, run_programs


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("kind", ["tuned", "kept", "styles", "mixed", "cells"])
def test_recall_and_precision_are_at_least_nine_tenths(kind: str, tmp_path: Path) -> None:
    candidates, orders = run_programs(kind, tmp_path)
    sites = json.loads(get_truth_file(kind).read_text())["sites"].values()
    true = {(s["domain"], t) for s in sites for k in ("sundays", "weekdays") for t in s[k]}
    behind_filter = {(line["domain"], line["time"]) for line in read_lines(candidates)}
    assert len(true & behind_filter) >= 0.9 * len(true)
    rates = measure_model(kind, tmp_path, orders=orders, classified=None)["rules"]
    assert rates["recall"] >= 0.9
    assert rates["precision"] >= 0.9


def test_rules_are_precise_on_sites_they_were_not_tuned_for(tmp_path: Path) -> None:
    """All times stay candidates for the classifier; the rules alone find eight of ten."""
    candidates, orders = run_programs("held-out", tmp_path)
    sites = json.loads(get_truth_file("held-out").read_text())["sites"].values()
    true = {(s["domain"], t) for s in sites for k in ("sundays", "weekdays") for t in s[k]}
    assert len(true & {(line["domain"], line["time"]) for line in read_lines(candidates)}) == len(
        true
    )
    rates = measure_model("held-out", tmp_path, orders=orders, classified=None)["rules"]
    assert rates["recall"] >= 0.8
    assert rates["precision"] >= 0.9


def test_table_columns_give_days_and_the_meaning_of_hours(tmp_path: Path) -> None:
    _, orders = run_programs("mixed", tmp_path)
    [order] = [line for line in read_lines(orders) if line["domain"] == "nowa-rola.example"]
    assert order["sundays"] == ["07:30", "09:30", "11:00", "18:00"]
    assert [mass["days"] for mass in order["masses"] if mass["time"] == "19:30"] == ["fri"]


#: Domain, day and time → single days, season and months of each row.
DATES_AND_SEASONS = {
    ("jawornik", "sunday", "12:30"): [("", "oprócz lipca i sierpnia", "1-6 9-12")],
    ("jawornik", "weekday", "16:30"): [("wed", "", "")],
    ("lipnica", "sunday", "18:00"): [("", "oprócz lipca i sierpnia", "1-6 9-12")],
    ("lipnica", "weekday", "16:15"): [("thu", "", "")],
    ("stary-dwor", "sunday", "19:30"): [("", "tylko w wakacje", "7-8")],
    ("zawada", "holiday", "10:00"): [("", "", "")],
    ("dabrowka", "sunday", "07:00"): [
        ("", "Od września do czerwca", "1-6 9-12"),
        ("", "Lipiec i sierpień", "7-8"),
    ],
    ("dabrowka", "sunday", "08:30"): [("", "Od września do czerwca", "1-6 9-12")],
    ("dabrowka", "weekday", "19:00"): [("", "Lipiec i sierpień", "7-8")],
    ("skrzyszow", "weekday", "18:30"): [("wed", "", "")],
    ("tarnowiec", "weekday", "18:00"): [("mon tue wed fri sat", "", "")],
    ("lubienie", "weekday", "19:00"): [("", "VII–VIII", "7-8")],
    ("wielgie", "weekday", "18:30"): [("wed", "", "")],
    ("rybno", "weekday", "07:00"): [("thu", "Okres zimowy", "")],
    ("rybno", "sunday", "07:00"): [("", "Okres letni", ""), ("", "Okres zimowy", "")],
    ("borek", "weekday", "18:30"): [("mon-fri", "czerwiec–sierpień", "6-8")],
    ("huta", "sunday", "13:00"): [("", "ROK SZKOLNY", "1-6 9-12")],
    ("huta", "weekday", "07:00"): [("", "ROK SZKOLNY", "1-6 9-12"), ("", "WAKACJE", "7-8")],
    ("izbica", "sunday", "18:00"): [("", "w okresie letnim", "")],
    ("izbica", "weekday", "07:00"): [("wed-sat", "", "")],
    ("jeziorna", "sunday", "10:30"): [("", "", "")],
}


def test_table_has_single_weekdays_and_seasons_of_pages(tmp_path: Path) -> None:
    _, orders = run_programs("styles", tmp_path)
    measure_model("styles", tmp_path, orders=orders, classified=None)
    rows_by_mass: dict[tuple[str, str, str], list[tuple[str, str, str]]] = defaultdict(list)
    with (tmp_path / "t.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["domain"].removesuffix(".example"), row["day"], row["time"]
            rows_by_mass[key].append((row["days"], row["season"], row["months"]))
    assert {key: rows_by_mass.get(key) for key in DATES_AND_SEASONS} == DATES_AND_SEASONS
