"""Settings of the services of an embedded system."""

import stat
from pathlib import Path

import pytest

from dms.usecases.storages.storage_monitor import StorageMonitor
from sluice.embedded.home import Home
from sluice.embedded.services import build_service, read_or_create
from sluice.embedded.system import EmbeddedSystem, SystemOptions
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.open import open_transport


def test_storage_roots_are_the_home_folder_options_and_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_DMS_STORAGE_ROOTS", "s3://bucket")
    monkeypatch.setenv("SLUICE_DMS_STORAGE_EXCLUSIONS", "/srv/others")
    url, home = "postgresql://nobody@127.0.0.1:1/nothing", Home(tmp_path / "a home")
    dms = build_service(
        "dms",
        database_url=url,
        links=ProcessLinks(),
        transport=open_transport(url, sluice_topology()),
        home=home,
        storage_roots=["/mnt/my data"],
    )
    [watch] = [part for part in dms.components if isinstance(part, StorageMonitor)]
    assert watch.roots == (f"file://{home.storages}", "file:///mnt/my data", "s3://bucket")
    assert {"file:///srv/others", "file:///usr"} <= {*watch.exclusions}, (
        "folders that tools see must be excluded"
    )


async def test_wrong_port_setting_is_reported_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_CONNECTIONS", "1")
    home = Home(tmp_path / "home")
    with pytest.raises(
        OSError, match=r"^SLUICE_CONNECTIONS \(in the environment\): Input should be greater"
    ):
        await EmbeddedSystem(home, SystemOptions(port=0)).start()
    assert not home.database.exists()


def test_stored_value_is_created_once_and_is_private(tmp_path: Path) -> None:
    file = tmp_path / "token"

    assert (read_or_create(file, "first"), read_or_create(file, "second")) == ("first", "first")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("written by hand\n")
    assert read_or_create(file, "third") == "written by hand"
    file.write_text(" \n")
    assert read_or_create(file, "fourth") == "fourth", "an empty file must be replaced"
