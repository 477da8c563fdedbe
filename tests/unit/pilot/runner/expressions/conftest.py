"""A slot with a secret and a short limit for expressions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.pilot.runner.expressions.expression_slot import LIMIT, SECRET
from tests.unit.pilot.slot_runner import Runner


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
