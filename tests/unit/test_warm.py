"""Warm workers as real processes that get requests as from a pilot."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sluice.warm

TIMEOUT = 30


class WarmProgram:
    """A running warm worker; ``text`` is a program that calls ``serve``."""

    def __init__(self, folder: Path, text: str, **variables: str) -> None:
        program = folder / "program.py"
        program.write_text(textwrap.dedent(text))
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, program, "first", "--persistent_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env={**os.environ, "PYTHONUNBUFFERED": "", **variables},
            )

    def send(self, *arguments: str, **fields: Any) -> None:
        assert self.process.stdin is not None
        request = {"arguments": arguments, "inputs": [], **fields}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        return reply

    def ask(self, *arguments: str, **fields: Any) -> dict[str, Any]:
        self.send(*arguments, **fields)
        return self.answer()

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(TIMEOUT)


@pytest.fixture
def start_program(tmp_path: Path) -> Iterator[Any]:
    programs: list[WarmProgram] = []

    def start(text: str, **variables: str) -> WarmProgram:
        programs.append(WarmProgram(tmp_path, text, **variables))
        return programs[-1]

    yield start
    for program in programs:
        with program.process:
            program.process.kill()


ECHO = """
    import sys
    from sluice.warm import once, serve

    @once
    def model(name):
        print("loading", name, file=sys.stderr)
        return name.upper()

    def main(arguments):
        print(model(arguments[1]), *arguments, sys.argv[1:] == list(arguments))

    serve(main)
"""


def test_model_is_loaded_once_for_all_requests(start_program: Any) -> None:
    program = start_program(ECHO)
    assert program.ask("a", requestId=0)["output"] == "A first a True\n"
    assert program.ask("b", requestId=7) == {
        "exitCode": 0,
        "output": "A first b True\n",
        "requestId": 7,
    }
    assert program.end() == 0
    assert program.log.read_text() == "loading a\n"


def test_program_without_the_flag_runs_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from sluice.warm import serve\n"
        "def main(arguments):\n    print(*arguments)\n    return 3\n"
        "serve(main)\n"
    )
    ended = subprocess.run([sys.executable, program, "a", "b"], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, b"a b\n", b"")


WRITERS = """
    import ctypes, os, subprocess, sys
    from sluice.warm import serve

    def main(arguments):
        print("python")
        sys.stdout.flush()
        libc = ctypes.CDLL(None)
        libc.printf(b"c\\n")
        subprocess.run(["echo", "child"], check=True)
        os.write(1, b"\\xff\\x00 raw\\n")
        print("log", file=sys.stderr)
        sys.stdin.read()

    serve(main)
"""


def test_all_printed_output_is_in_the_answer_of_its_request(start_program: Any) -> None:
    program = start_program(WRITERS)
    for _ in range(2):
        output = program.ask()["output"].encode(errors="surrogateescape")
        assert sorted(output.split(b"\n")) == [b"", b"c", b"child", b"python", b"\xff\x00 raw"]
    assert program.log.read_text() == "log\nlog\n"


def test_output_goes_to_the_file_of_the_job_if_it_exists(
    start_program: Any, tmp_path: Path
) -> None:
    file = tmp_path / "stdout"
    program = start_program(WRITERS, WARM_STDOUT=str(file))
    assert "python" in program.ask()["output"]
    file.touch()
    assert program.ask()["output"] == ""
    assert b"\xff\x00 raw\n" in file.read_bytes()


@pytest.mark.parametrize(
    ("ending", "code", "logged"),
    [
        ("return 4", 4, ""),
        ("return None", 0, ""),
        ("return 256 + 5", 5, ""),
        ("sys.exit(6)", 6, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('no such page')", 1, "no such page"),
        ("raise ValueError('cut off')", 1, "ValueError: cut off"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
        ("os.dup2(os.open('/dev/full', os.O_WRONLY), 1); print('x')", 120, "No space left"),
    ],
)  # fmt: skip
def test_request_ends_with_the_exit_code_of_a_separate_program(
    start_program: Any, ending: str, code: int, logged: str
) -> None:
    program = start_program(
        f"import os, sys\nfrom sluice.warm import serve\n"
        f"def main(arguments):\n    {ending}\nserve(main)"
    )
    assert program.ask()["exitCode"] == code
    assert program.ask()["exitCode"] == code
    assert logged in program.log.read_text()


def test_each_request_finds_the_process_in_its_initial_state(
    start_program: Any, tmp_path: Path
) -> None:
    program = start_program(
        """
        import os, sys
        from sluice.warm import serve

        def main(arguments):
            found = os.getcwd(), os.environ.get("LEFT"), os.umask(0o777), sys.argv[1:]
            print(*found, sys.stdin.read() == "", sys.stdout.closed)
            os.chdir("/")
            os.environ["LEFT"] = "behind"
            os.environ.pop("KEPT")
            sys.argv.append("more")
            sys.stdout.close()
            os.closerange(3, 60)

        serve(main)
        """,
        KEPT="yes",
    )
    first = program.ask("a")
    assert first == program.ask("a") == program.ask("a")
    assert first["output"].startswith(f"{tmp_path} None {os.umask(os.umask(0o22) or 0o22)}")


def test_request_may_name_its_folder(start_program: Any, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    program = start_program(
        "import os\nfrom sluice.warm import serve\n"
        "def main(arguments):\n    print(os.getcwd())\nserve(main)"
    )
    assert program.ask(sandboxDir="below")["output"] == f"{tmp_path}/below\n"
    assert program.ask()["output"] == f"{tmp_path}\n"


def test_canceled_request_ends_and_the_next_request_is_served(start_program: Any) -> None:
    program = start_program(
        """
        import signal, sys
        from sluice.warm import serve

        def main(arguments):
            if "wait" in arguments:
                print("waiting", file=sys.stderr, flush=True)
                while True:  # cancellations of other requests end a pause, too
                    signal.pause()

        serve(main)
        """
    )
    program.send("wait", requestId=1)
    program.send(requestId=1, cancel=True)
    assert program.answer() == {
        "exitCode": 130, "output": "", "requestId": 1, "wasCancelled": True,
    }  # fmt: skip
    program.send(requestId=1, cancel=True)  # after the request has ended
    assert program.ask(requestId=2) == {"exitCode": 0, "output": "", "requestId": 2}
    program.send("wait", requestId=3)
    program.send(requestId=2, cancel=True)  # for another request
    program.send(requestId=3, cancel=True)
    assert program.answer()["wasCancelled"] is True


def test_requests_that_arrive_while_another_runs_stay_whole(start_program: Any) -> None:
    """A signal interrupts the program for each line that arrives."""
    program = start_program(
        """
        import time
        from sluice.warm import serve

        def main(arguments):
            until = time.monotonic() + 0.05
            while time.monotonic() < until:
                pass
            print(*arguments)

        serve(main)
        """
    )
    numbers = range(1, 21)
    for number in numbers:
        for _ in range(50):
            program.send("x" * 100, requestId=number + 1000, cancel=True)  # for no request
        program.send(str(number), requestId=number)
    assert [program.answer()["output"] for _ in numbers] == [
        f"first {number}\n" for number in numbers
    ]


def test_invalid_request_ends_the_program_with_a_message(start_program: Any) -> None:
    program = start_program(ECHO)
    assert program.process.stdin is not None
    program.process.stdin.write(b"[1]\n")
    program.process.stdin.flush()
    assert program.process.wait(TIMEOUT) == 1
    assert "a request is a JSON object, not [1]" in program.log.read_text()


def test_program_can_be_terminated_by_a_signal(start_program: Any) -> None:
    program = start_program(ECHO)
    program.ask("a")
    program.process.send_signal(signal.SIGTERM)
    assert program.process.wait(TIMEOUT) == -signal.SIGTERM


def test_import_of_the_module_loads_little() -> None:
    """Each start of a program pays for the import, even if it serves only one job."""
    code = (
        f"import sys; sys.path.append({str(Path(sluice.warm.__file__).parent.parent)!r});"
        "import sluice.warm;"
        "print(*{name.partition('.')[0] for name, module in sys.modules.items() if module})"
    )
    ended = subprocess.run([sys.executable, "-ISc", code], capture_output=True, check=True)
    imported = set(ended.stdout.decode().split()) - {"__main__"}
    assert imported <= sys.stdlib_module_names | {"sluice"}
    assert not imported & {"asyncio", "ctypes", "json", "logging", "subprocess", "tempfile"}
