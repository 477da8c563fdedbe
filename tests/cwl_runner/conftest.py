"""One system without containers for all tests of the runner."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.cwl_runner.runners import Answers, Run, run_in
from tests.e2e.systems import run_live_system


@pytest.fixture(scope="package")
def url() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
        patch.setenv("SLUICE_OPERATOR_CLIENT_LEASE", "6")
        with run_live_system() as system:
            yield system.url


@pytest.fixture
def run_both(url: str, tmp_path: Path) -> Run:
    """Return a function that runs cwltool and our runner, each in its own folder."""

    def run(*arguments: str, cwltool: Sequence[str] = (), **environment: str) -> Answers:
        commands = (["cwltool", *cwltool], ["sluice-cwl-runner", "--url", url])
        return [run_in(tmp_path, command, arguments, environment) for command in commands]

    return run
