"""Run Python programs beside a test."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def start_program(code: str, *arguments: str, folder: Path) -> Iterator[int]:
    """Start a Python program and yield its process ID after it has written an empty line."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        yield process.pid
    finally:
        process.kill()
        process.communicate()
