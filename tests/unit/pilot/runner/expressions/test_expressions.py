"""Tests of JavaScript of templates in a real slot process: what it can do, and what it cannot do
even after it has broken out of its context."""

import socket
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.unit.pilot.attempts import get_error, run
from tests.unit.pilot.builders import make_task, write_input
from tests.unit.pilot.runner.expressions.expression_slot import (
    SECRET,
    break_out,
    evaluate_outside,
    make_expression_tool,
    read_output_lines,
)
from tests.unit.pilot.slot_runner import Runner


def test_expressions_return_numbers_and_strings(runner: Runner, root: Path) -> None:
    expressions = [
        "$(1 + inputs.f.size)",
        "${ var a = ['é', null]; return JSON.stringify(a); }",
        "$(inputs.f.basename + '!')",
    ]
    report = run(
        runner,
        make_task(root, make_expression_tool(*expressions)),
        [write_input(root / "in" / "a.dat", data=b"four")],
    )
    assert read_output_lines(report) == ["5", '["é",null]', "a.dat!"]


@pytest.mark.parametrize(
    "escape",
    [
        "globalThis.constructor.constructor('return process')()",
        "this.constructor.constructor('return process')()",
        (
            "(function(){ try { null.x } catch (e) { return e.constructor.constructor('return"
            " process')() } })()"
        ),
        (
            "(function(){ function f() { f() } try { f() } catch (e) { return"
            " e.constructor.constructor('return process')() } })()"
        ),
        "import('x').constructor.constructor('return process')()",
        "require('fs')",
        "process.binding('fs')",
        "process.mainModule.require('child_process')",
    ],
)
def test_context_blocks_known_escapes(runner: Runner, root: Path, escape: str) -> None:
    report = run(
        runner,
        make_task(root, make_expression_tool("$(" + escape + ")")),
        [write_input(root / "in" / "a.dat")],
    )
    assert (
        "is not defined" in get_error(report)[1]
        or "Cannot read properties of undefined" in get_error(report)[1]
    )


def test_escaped_code_reaches_the_objects_of_node_js(runner: Runner, root: Path) -> None:
    assert evaluate_outside(
        runner, root, "[typeof process, typeof require('fs').readFileSync]"
    ) == [
        "object",
        "function",
    ]


def test_escaped_code_finds_no_environment_variables(runner: Runner, root: Path) -> None:
    assert set(evaluate_outside(runner, root, "process.env")) <= {"PWD"}


def test_escaped_code_sees_only_system_libraries(runner: Runner, root: Path) -> None:
    assert set(evaluate_outside(runner, root, "require('fs').readdirSync('/')")) <= {
        "usr",
        "lib",
        "lib32",
        "lib64",
        "libx32",
    }


@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/environ",
        "/proc/{slot}/environ",
        "/proc/{server}/environ",
        "/proc/{slot}/root/etc/passwd",
        "/etc/passwd",
        "{token}",
        "{input}",
        "{runs}/journals",
        "{runs}/slots",
        "/tmp",
        "/var/run",
        "/usr/bin/env",
    ],
)
def test_escaped_code_cannot_read_files_of_the_node(runner: Runner, root: Path, path: str) -> None:
    root.mkdir()
    token = root / "token"
    token.write_text(SECRET)
    write_input(root / "in" / "a.dat")
    path = path.format(
        slot=runner.slot_pid,
        server=runner.server.pid,
        token=token,
        input=root / "in" / "a.dat",
        runs=runner.run.path,
    )
    assert Path(path).exists(), "the test needs a path that exists"
    for call in ("readFileSync", "readdirSync"):
        assert "ENOENT" in evaluate_outside(runner, root, f"require('fs').{call}('{path}')")


@pytest.mark.parametrize("place", ["/", "/dev", "/usr/lib", "{runs}"])
def test_escaped_code_cannot_write_files(runner: Runner, root: Path, place: str) -> None:
    path = place.format(runs=runner.run.path) + "/left-behind"
    answer = evaluate_outside(runner, root, f"require('fs').writeFileSync('{path}', 'x')")
    assert "EROFS" in answer or "ENOENT" in answer
    assert not Path(path).exists()


@pytest.mark.parametrize("device", ["/dev/null", "/dev/urandom"])
@pytest.mark.parametrize(
    "change",
    [
        "fs.chmodSync(device, seen.mode)",
        "fs.chownSync(device, seen.uid, seen.gid)",
        "fs.utimesSync(device, seen.atime, seen.mtime)",
    ],
)
def test_escaped_code_cannot_change_devices_of_the_node(
    runner: Runner, root: Path, device: str, change: str
) -> None:
    """The code sets the values that the devices have, so a success would not disturb the node."""
    code = (
        "(() => { const fs = require('fs'), device = '%s', seen = fs.statSync(device);"
        f" return String({change}) }})()"
    )
    answer = evaluate_outside(runner, root, code % device)
    assert "EROFS" in answer or "ENOENT" in answer
    own = root / "own"
    own.touch()
    script = f"console.log({code % own})"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    assert done.stdout == "undefined\n", "the code works without a sandbox"


#: A library that this process and node.js load.
LIBC = next(
    line.split()[-1]
    for line in Path("/proc/self/maps").read_text().splitlines()
    if "/libc.so" in line
)


@pytest.mark.parametrize(
    ("code", "refusal"),
    [
        ("String(require('child_process').execFileSync(process.execPath, ['-v']))", "EPERM"),
        (
            (
                "(() => { throw require('child_process').spawnSync(process.execPath, ['-v']).error"
                " })()"
            ),
            "EPERM",
        ),
        ("require('child_process').spawn(process.execPath, ['-v']).pid", "EPERM"),
        (
            (
                "(() => { const c = require('cluster'); c.setupPrimary({exec: '/dev/null'}); return"
                " c.fork().process.pid })()"
            ),
            "EPERM",
        ),
        (f"process.dlopen({{exports: {{}}}}, '{LIBC}')", "loading addons is disabled"),
    ],
)
def test_escaped_code_cannot_start_programs(
    runner: Runner, root: Path, code: str, refusal: str
) -> None:
    assert refusal in str(evaluate_outside(runner, root, code))
    script = (
        "try { console.log(JSON.stringify(%s)) } catch (e) { console.log('Error: ' + e) }"
        " process.exit()"
    )
    done = subprocess.run(
        ["node", "-e", script % code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout, "the code works without a sandbox"
    assert refusal not in done.stdout


@pytest.mark.parametrize("target", ["process.ppid", "1", "{slot}", "{server}", "-1", "0"])
@pytest.mark.parametrize(
    "call", ["process.kill({target}, 'SIGKILL')", "process._debugProcess({target})"]
)
def test_escaped_code_cannot_signal_processes(
    runner: Runner, root: Path, target: str, call: str
) -> None:
    code = call.format(target=target.format(slot=runner.slot_pid, server=runner.server.pid))
    answer = evaluate_outside(runner, root, code)
    assert "EPERM" in answer or "ESRCH" in answer or "not permitted" in answer
    assert psutil.pid_exists(runner.slot_pid)


def test_escaped_code_has_no_network(runner: Runner, root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        connect = (
            f"require('net').connect({server.getsockname()[1]}, '127.0.0.1').on('error', e =>"
            " globalThis.seen = e.code).pending"
        )
        expressions = [*break_out(connect), *["${ return String(globalThis.seen); }"] * 3]
        report = run(
            runner,
            make_task(root, make_expression_tool(*expressions)),
            [write_input(root / "in" / "a.dat")],
        )
        assert read_output_lines(report)[-1] in {"EPERM", "ENETUNREACH"}
        with pytest.raises(BlockingIOError):
            server.accept()
