"""`mt-crawl` reports wrong input before it sends a request."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from masstimes.crawl.command import crawl_main
from masstimes.crawl.parishes import read_parishes

HERE = {"id": "a", "name": "A", "site": "http://127.1.0.1:1/"}


@pytest.mark.parametrize(
    ("content", "options", "code", "message"),
    [
        (b"{", (), 65, "not JSON: expecting property name"),
        (b"3", (), 65, "a parish is a JSON object"),
        (b'{"id": "a", "name": "A"}', (), 65, "a parish has no text 'site'"),
        (b'{"id": "../a", "name": "A", "site": ""}', (), 65, "the id '../a' cannot name a file"),
        (
            b'{"id": "a", "name": "A", "site": "http://p.pl"}',
            (),
            64,
            "http://p.pl is not on this machine: tell its owner by --contact who asks",
        ),
        (
            b'{"id": "a", "name": "A", "site": "http://p.invalid"}',
            ("--contact", "notanaddress", "--delays", "0", "--timeout", "1"),
            64,
            "tell its owner by --contact who asks",
        ),
        (json.dumps([HERE, HERE]).encode(), (), 64, "the id 'a' appears twice"),
        (json.dumps(HERE).encode(), ("--delays", "-1"), 64, "delays are 0 or more"),
        (json.dumps(HERE).encode(), ("--timeout", "0"), 64, "times are above 0"),
        (json.dumps(HERE).encode(), ("--known", "none"), 66, "no such file or folder"),
    ],
)
def test_wrong_parishes_and_options_are_reported(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes,
    options: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    source = tmp_path / "parish.json"
    source.write_bytes(content)
    assert crawl_main([str(source), "--out", str(tmp_path / "out"), *options]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("site", "here"),
    [
        ("http://127.1.0.1:8000/", True),
        ("http://[::1]/", True),
        ("http://a.localhost/", True),
        ("", True),
        ("http://p.pl/", False),
        ("http://10.0.0.1/", False),
    ],
)
def test_sites_on_this_machine_are_recognized(tmp_path: Path, site: str, here: bool) -> None:
    path = tmp_path / "parish.json"
    path.write_text(json.dumps({**HERE, "site": site}))
    assert [parish.is_loopback for parish in read_parishes([path])] == [here]


def test_other_programs_start_without_scrapy() -> None:
    imports = (
        "import masstimes.commands, masstimes.crawl.command, masstimes.small_web.commands, sys"
    )
    report_code = (
        "print([name for name in ('scrapy', 'twisted', 'uvicorn') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{imports}; {report_code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_parishes_without_an_address_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sites = {f"p{number}": "parish.example" for number in range(6)}
    parishes = [{"id": each, "name": each, "site": site} for each, site in sites.items()]
    source, out = tmp_path / "parishes.json", tmp_path / "out"
    source.write_text(json.dumps(parishes))
    assert crawl_main([str(source), "--out", str(out)]) == 0
    stderr = capsys.readouterr().err
    assert "6 of 6 parishes have no address to begin at (p0, p1, p2, p3, p4 and 1 more)" in stderr
    assert "begins with http:// or https://" in stderr
    summary = (out / "p0.summary.json").read_text()
    assert summary.endswith("}\n")
    assert json.loads(summary)["ended"] == "no-address"
