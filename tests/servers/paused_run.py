"""Tests that run until somebody ends them; they are collected only if the file is named."""

import signal
from pathlib import Path

from tests.e2e.systems import run_live_system
from tests.servers.postgres import PostgresServer
from tests.servers.rabbitmq import RabbitServer


def test_system_runs_until_a_signal_ends_the_test(
    postgres_server: PostgresServer, rabbitmq_server: RabbitServer, tmp_path: Path
) -> None:
    with run_live_system() as system:
        (tmp_path / "started.part").write_text(str(system.running.pid))
        (tmp_path / "started.part").rename(tmp_path / "started")
        signal.pause()
