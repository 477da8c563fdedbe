"""JavaScript of templates, in a real slot process: what it does, and what it cannot even where it
breaks out of its context."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from sluice.contracts.pilots import AttemptReport
from sluice.contracts.states import AttemptOutcome, ErrorClass
from tests.unit.pilot.builders import input_file, task, tool
from tests.unit.pilot.runner import Runner
from tests.unit.pilot.test_attempts import failed, log_of, run
from tests.unit.pilot.test_workflows import around

LIMIT = 3.0
SECRET = "hush-hush"

#: The way out of a context of node.js that is open at present: an import fails with an error that
#: belongs to the program outside. What follows in the same process is then evaluated there, with
#: all that node.js has.
BREAK_OUT = """${ import('x').catch(error => {
  const outside = error.constructor.constructor('return globalThis')();
  outside.require('vm').runInNewContext = (code) => {
    try { return outside.eval(code) } catch (e) { return 'Error: ' + e }
  };
}); return 'out'; }"""


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    environment = {"SLUICE_PILOT_TOKEN": SECRET, "PYTHONPATH": str(Path.cwd())}
    runner = Runner(
        tmp_path_factory.mktemp("pilot"),
        environment=environment,
        settings={"expression_limit": LIMIT},
    )
    yield runner
    runner.close()


def saying(*expressions: str) -> dict[str, Any]:
    """A tool that writes what the expressions give, one a line."""
    javascript = [{"class": "InlineJavascriptRequirement"}]
    return tool(["/usr/bin/printf", r"%s\n"], requirements=javascript, arguments=list(expressions))


def outside(code: str) -> list[str]:
    """Expressions that break out, then give what ``code`` gives there as JSON."""
    return [BREAK_OUT, "${ return JSON.stringify(" + code + "); }"]


def said(report: AttemptReport) -> list[str]:
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    return Path(report.outputs[0].url.removeprefix("file://")).read_text().splitlines()


def found_outside(runner: Runner, root: Path, code: str) -> Any:
    """What ``code`` gives there, or the error that it ended with, as text."""
    answer = said(
        run(runner, task(root, saying(*outside(code))), [input_file(root / "in" / "a.dat")])
    )[1]
    return answer if answer.startswith("Error:") else json.loads(answer)


def evaluators(runner: Runner) -> list[int]:
    """Pids of the processes in which the slot has expressions evaluated."""
    return [
        child.pid
        for child in psutil.Process(runner.slot_pid).children()
        if child.cmdline()[:1] != [sys.executable]
    ]


def test_values_of_every_kind(runner: Runner, root: Path) -> None:
    expressions = [
        "$(1 + inputs.f.size)",
        "${ var a = ['é', null]; return JSON.stringify(a); }",
        "$(inputs.f.basename + '!')",
    ]
    report = run(
        runner, task(root, saying(*expressions)), [input_file(root / "in" / "a.dat", data=b"four")]
    )
    assert said(report) == ["5", '["é",null]', "a.dat!"]


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
def test_ways_out_that_are_shut_by_the_context(runner: Runner, root: Path, escape: str) -> None:
    report = run(
        runner, task(root, saying("$(" + escape + ")")), [input_file(root / "in" / "a.dat")]
    )
    assert (
        "is not defined" in failed(report)[1]
        or "Cannot read properties of undefined" in failed(report)[1]
    )


def test_breaking_out_works_which_the_tests_below_need(runner: Runner, root: Path) -> None:
    assert found_outside(runner, root, "[typeof process, typeof require('fs').readFileSync]") == [
        "object",
        "function",
    ]


def test_the_environment_is_empty(runner: Runner, root: Path) -> None:
    assert set(found_outside(runner, root, "process.env")) <= {"PWD"}


def test_there_are_no_files_but_libraries(runner: Runner, root: Path) -> None:
    assert set(found_outside(runner, root, "require('fs').readdirSync('/')")) <= {
        "usr",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "dev",
    }
    assert found_outside(runner, root, "require('fs').readdirSync('/dev')") == ["null", "urandom"]


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
def test_nothing_of_the_node_can_be_read(runner: Runner, root: Path, path: str) -> None:
    root.mkdir()
    token = root / "token"
    token.write_text(SECRET)
    input_file(root / "in" / "a.dat")
    path = path.format(
        slot=runner.slot_pid,
        server=runner.server.pid,
        token=token,
        input=root / "in" / "a.dat",
        runs=runner.run.path,
    )
    assert Path(path).exists(), "only what is there can be kept from being read"
    for call in ("readFileSync", "readdirSync"):
        assert "ENOENT" in found_outside(runner, root, f"require('fs').{call}('{path}')")


@pytest.mark.parametrize("place", ["/", "/dev", "/usr/lib", "{runs}"])
def test_nothing_can_be_written(runner: Runner, root: Path, place: str) -> None:
    path = place.format(runs=runner.run.path) + "/left-behind"
    answer = found_outside(runner, root, f"require('fs').writeFileSync('{path}', 'x')")
    assert "EROFS" in answer or "ENOENT" in answer
    assert not Path(path).exists()


#: A library that both this process and node.js have.
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
def test_no_program_can_be_started(runner: Runner, root: Path, code: str, refusal: str) -> None:
    assert refusal in str(found_outside(runner, root, code))
    script = (
        "try { console.log(JSON.stringify(%s)) } catch (e) { console.log('Error: ' + e) }"
        " process.exit()"
    )
    done = subprocess.run(
        ["node", "-e", script % code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout, "it works where nothing is shut off"
    assert refusal not in done.stdout


@pytest.mark.parametrize("target", ["process.ppid", "1", "{slot}", "{server}", "-1", "0"])
@pytest.mark.parametrize(
    "call", ["process.kill({target}, 'SIGKILL')", "process._debugProcess({target})"]
)
def test_no_process_can_be_signaled(runner: Runner, root: Path, target: str, call: str) -> None:
    code = call.format(target=target.format(slot=runner.slot_pid, server=runner.server.pid))
    answer = found_outside(runner, root, code)
    assert "EPERM" in answer or "ESRCH" in answer or "not permitted" in answer
    assert psutil.pid_exists(runner.slot_pid)


def test_there_is_no_network(runner: Runner, root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        connect = (
            f"require('net').connect({server.getsockname()[1]}, '127.0.0.1').on('error', e =>"
            " globalThis.seen = e.code).pending"
        )
        expressions = [*outside(connect), *["${ return String(globalThis.seen); }"] * 3]
        report = run(runner, task(root, saying(*expressions)), [input_file(root / "in" / "a.dat")])
        assert said(report)[-1] in {"EPERM", "ENETUNREACH"}
        with pytest.raises(BlockingIOError):
            server.accept()


def test_an_endless_loop_ends_the_job_and_not_the_slot(runner: Runner, root: Path) -> None:
    report = run(
        runner, task(root, saying("${while(true){}}")), [input_file(root / "in" / "a.dat")]
    )
    sentence = f"the expression ${{while(true){{}}}} took longer than its limit of {LIMIT:g} s"
    assert failed(report) == (ErrorClass.TOOL_REFUSED, sentence)
    assert said(
        run(runner, task(root, saying("$(6 * 7)")), [input_file(root / "in" / "b.dat")])
    ) == ["42"]


def test_an_endless_loop_in_a_workflow_inside_a_job(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        task(root, around(saying("$(1)"), when="${while(true){}}")),
        [input_file(root / "in" / "a.dat")],
    )
    error_class, message = failed(report)
    assert error_class is ErrorClass.TOOL_REFUSED
    assert message.endswith(
        f"the expression ${{while(true){{}}}} took longer than its limit of {LIMIT:g} s"
    )


def test_an_endless_loop_left_behind_for_later(runner: Runner, root: Path) -> None:
    late = "import('x').catch(error => { while (true) {} })"
    report = run(
        runner,
        task(root, saying("${ " + late + "; return 1; }", "$(2 + 3)")),
        [input_file(root / "in" / "a.dat")],
    )
    assert failed(report)[0] is ErrorClass.TOOL_REFUSED
    assert said(
        run(runner, task(root, saying("$(6 * 7)")), [input_file(root / "in" / "b.dat")])
    ) == ["42"]


@pytest.mark.parametrize(
    ("bomb", "sentence"),
    [
        ("new Array(1000000).fill(1.5)", "took more than its 1280 MiB of memory"),
        ("new Uint8Array(50000000).fill(1)", "Array buffer allocation failed"),
        ("new WebAssembly.Memory({initial: 2000})", "could not allocate memory"),
    ],
)
def test_memory_has_an_end(root: Path, tmp_path: Path, bomb: str, sentence: str) -> None:
    runner = Runner(
        tmp_path / "pilot",
        environment={"PYTHONPATH": str(Path.cwd())},
        settings={"expression_limit": 60.0},
    )
    try:
        code = "${ var held = []; while (true) { held.push(" + bomb + "); } }"
        assert (
            sentence
            in failed(run(runner, task(root, saying(code)), [input_file(root / "in" / "a.dat")]))[1]
        )
        assert said(
            run(runner, task(root, saying("$(6 * 7)")), [input_file(root / "in" / "b.dat")])
        ) == ["42"]
    finally:
        runner.close()


def test_an_answer_has_an_end(runner: Runner, root: Path) -> None:
    report = run(
        runner, task(root, saying("$('x'.repeat(70000000))")), [input_file(root / "in" / "a.dat")]
    )
    assert "longer than 64 MiB" in failed(report)[1]


@pytest.mark.parametrize(
    "forged",
    [
        "process.stdout.write(JSON.stringify({value: 1}) + String.fromCharCode(10))",
        "process.stdout.write(String.fromCharCode(10, 10))",
        "process.exit(0)",
        "process.abort()",
    ],
)
def test_an_answer_cannot_be_forged(runner: Runner, root: Path, forged: str) -> None:
    code = f"(() => {{ {forged}; while (true) {{}} }})()"
    failed(run(runner, task(root, saying(*outside(code))), [input_file(root / "in" / "a.dat")]))
    assert said(
        run(runner, task(root, saying("$(6 * 7)")), [input_file(root / "in" / "b.dat")])
    ) == ["42"]


def test_no_job_sees_what_another_left(runner: Runner, root: Path) -> None:
    marking = (
        "${ if (globalThis.mark) { return 'seen'; } globalThis.mark = Array.prototype.mark = 1;"
        " return 'unseen'; }"
    )
    task_ = task(root, saying(marking, marking))
    for number in range(2):
        report = run(runner, task_, [input_file(root / "in" / "a.dat")], seq=number)
        assert said(report) == ["unseen", "unseen"]


def test_one_task_keeps_its_process_and_leaves_nothing_to_another(
    runner: Runner, root: Path
) -> None:
    marking = task(root, saying(*outside("[globalThis.mark, globalThis.mark = 'left']")))
    before: list[int] = []
    for number in range(2):
        run(runner, marking, [input_file(root / "in" / "a.dat")], seq=number)
        before.append(*evaluators(runner))
    assert before[0] == before[1], "starting one for each job is dear"
    assert said(
        run(runner, task(root, saying("$(typeof mark)")), [input_file(root / "in" / "b.dat")])
    ) == ["undefined"]
    assert found_outside(runner, root, "typeof globalThis.mark") == "undefined"
    assert evaluators(runner) != before[:1]


def node_alone(folder: Path) -> dict[str, str]:
    """An environment with node.js on the PATH, and without bubblewrap."""
    folder.mkdir()
    (folder / "node").symlink_to(os.path.realpath("/usr/bin/node"))
    return {"PATH": str(folder), "PYTHONPATH": str(Path.cwd()), "SLUICE_PILOT_TOKEN": SECRET}


def test_without_bubblewrap_node_restrains_itself(root: Path, tmp_path: Path) -> None:
    runner = Runner(tmp_path / "pilot", environment=node_alone(tmp_path / "bin"))
    try:
        assert found_outside(runner, root, "process.env") == {}
        for code in (
            "require('fs').readFileSync('/etc/passwd')",
            "require('child_process').execSync('id')",
        ):
            assert "restricted" in found_outside(runner, root, code)
        report = run(
            runner, task(root, around(saying("$(6 * 7)"))), [input_file(root / "in" / "b.dat")]
        )
        assert said(report) == ["42"]
    finally:
        runner.close()


@pytest.mark.parametrize("inside", [False, True])
def test_a_pilot_may_insist_on_bubblewrap(root: Path, tmp_path: Path, inside: bool) -> None:
    runner = Runner(
        tmp_path / "pilot",
        environment=node_alone(tmp_path / "bin"),
        settings={"sandbox_required": True},
    )
    sentence = (
        "this pilot evaluates JavaScript in a sandbox only, and there is no bubblewrap (bwrap) on"
        " this node's PATH"
    )
    try:
        process = around(saying("$(6 * 7)")) if inside else saying("$(6 * 7)")
        report = run(runner, task(root, process), [input_file(root / "in" / "a.dat")])
        failed(report)
        assert sentence in (log_of(report) if inside else report.message)
        plain = task(root, tool([sys.executable, "-c", "print(1)"]))
        assert said(run(runner, plain, [input_file(root / "in" / "b.dat")])) == ["1"]
    finally:
        runner.close()
