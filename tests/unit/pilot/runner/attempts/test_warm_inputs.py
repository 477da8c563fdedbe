"""Test of the files that a warm worker is told about and of the files that belong to its key."""

from pathlib import Path
from typing import Any

from pilot.runner.attempts.warm_inputs import add_inputs
from pilot.runner.tools.prepared_job import WarmCommand
from sluice.contracts.jobs.needs import Warm
from tests.unit.pilot.builders import make_task, write_input


def test_warm_worker_key_and_request_have_each_file_of_a_folder(tmp_path: Path) -> None:
    task_ = make_task(tmp_path, {}, side_ports=["config"], folders={"config": "pero-cz"})
    data = write_input(tmp_path / "0.dat", data=b"data")
    ini, words = (
        write_input(tmp_path / name, data=name.encode()).model_copy(update={"port": "config"})
        for name in ("config.ini", "words%2Fcs")
    )
    values: dict[str, list[Any]] = {
        "f": [{"class": "File", "location": "file:///job/0.dat"}],
        "config": [{"class": "Directory", "location": "file:///job/folder-1/pero-cz"}],
    }
    command = add_inputs(
        WarmCommand(Warm(key=["config"]), start_count=0), task_, [data, ini, words], values
    )
    assert command.loads == [
        ("config", "config.ini", ini.checksum),
        ("config", "words%2Fcs", words.checksum),
    ]
    assert command.inputs == [
        {"path": "/job/0.dat", "digest": data.checksum},
        {"path": "/job/folder-1/pero-cz/config.ini", "digest": ini.checksum},
        {"path": "/job/folder-1/pero-cz/words/cs", "digest": words.checksum},
    ]
