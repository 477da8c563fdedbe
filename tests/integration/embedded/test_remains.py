"""The processes of a killed system are found, also if it was killed early."""

import subprocess
import sys
from os import environ
from pathlib import Path

from sluice.embedded.home import Home
from sluice.embedded.leftover_processes import end_leftover_processes
from sluice.pilot_launchers.local_process import WORK_DIR


def test_pilot_without_a_record_is_found_by_its_work_folder(tmp_path: Path) -> None:
    home, other = Home(tmp_path / "home"), Home(tmp_path / "other")
    started = environ | {
        "SLUICE_PILOT_WMS_URL": "http://127.0.0.1:9",
        WORK_DIR: str(home.pilots / "one"),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "pilot"], env=started, start_new_session=True
    ) as pilot:
        try:
            assert end_leftover_processes(other) == ([], [])
            assert pilot.poll() is None
            ended, going_on = end_leftover_processes(home)
        finally:
            pilot.kill()
    assert ([(process.name, process.pid) for process in ended], going_on) == (
        [("pilot one", pilot.pid)],
        [],
    )
