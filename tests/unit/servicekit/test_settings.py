"""Tests of the sources of settings, their precedence, and the errors about invalid settings."""

import os
from pathlib import Path

import pytest
from pydantic_settings import SettingsConfigDict

from sluice.contracts.access.services import SERVICES, short_name
from sluice.servicekit.settings import ServiceSettings
from sluice.servicekit.settings_sources import InvalidSettings, load_settings, unknown_variables
from sluice.setup.logins import broker_logins, database_logins


class LedgerSettings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="SLUICE_LEDGER_")

    port: int = 9000
    pages: int = 3


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("SLUICE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of secrets with the required settings."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "sluice_ledger_database_url").write_text("postgresql://ledger:secret@db/ledger\n")
    (folder / "sluice_ledger_broker_url").write_text("amqp://ledger:secret@rabbit/sluice\n")
    monkeypatch.setenv("SLUICE_SECRETS_DIR", str(folder))
    return folder


@pytest.fixture
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "settings.env"
    path.touch()
    monkeypatch.setenv("SLUICE_SETTINGS_FILE", str(path))
    return path


def load_wrong_settings() -> list[str]:
    with pytest.raises(InvalidSettings) as caught:
        load_settings(LedgerSettings)
    return caught.value.sentences


def test_secret_files_provide_settings_that_the_environment_lacks(secrets: Path) -> None:
    settings = load_settings(LedgerSettings)
    assert settings.database_url == "postgresql://ledger:secret@db/ledger"
    assert (settings.port, settings.host, settings.log_level) == (9000, "127.0.0.1", "INFO")


def test_first_source_with_a_value_wins(
    secrets: Path, settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test goes from the last source to the first. The variable of a service wins over the
    shared variable of the same source only."""
    settings_file.write_text("SLUICE_LOG_LEVEL=WARNING\n")
    assert load_settings(LedgerSettings).log_level == "WARNING"
    settings_file.write_text("SLUICE_LOG_LEVEL=WARNING\nSLUICE_LEDGER_LOG_LEVEL=ERROR\n")
    assert load_settings(LedgerSettings).log_level == "ERROR"
    (secrets / "sluice_log_level").write_text("DEBUG")
    assert load_settings(LedgerSettings).log_level == "DEBUG"
    (secrets / "sluice_ledger_log_level").write_text("INFO")
    assert load_settings(LedgerSettings).log_level == "INFO"
    monkeypatch.setenv("SLUICE_LOG_LEVEL", "warning")
    assert load_settings(LedgerSettings).log_level == "WARNING"
    monkeypatch.setenv("SLUICE_LEDGER_LOG_LEVEL", "error")
    assert load_settings(LedgerSettings).log_level == "ERROR"
    monkeypatch.setenv("SLUICE_LEDGER_LOG_LEVEL", "")
    assert load_settings(LedgerSettings).log_level == "WARNING", "an empty value counts as none"


def test_addresses_are_combined_from_several_sources(
    secrets: Path, settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_file.write_text(
        "SLUICE_ADDRESSES__DMS=http://file-dms\nSLUICE_ADDRESSES__WMS=http://file-wms\n"
    )
    monkeypatch.setenv("SLUICE_ADDRESSES__WMS", "http://shared-wms")
    monkeypatch.setenv("SLUICE_LEDGER_ADDRESSES__CHAINS", "http://own-chains")
    addresses = load_settings(LedgerSettings).addresses.by_service()
    assert (addresses["dms"], addresses["wms"], addresses["wfms.chains"]) == (
        "http://file-dms",
        "http://shared-wms",
        "http://own-chains",
    )


def test_only_settings_that_all_services_share_have_a_shared_variable(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A login or a port for all services would always be a mistake."""
    monkeypatch.setenv("SLUICE_PORT", "1")
    monkeypatch.setenv("SLUICE_PAGES", "1")
    monkeypatch.setenv("SLUICE_DATABASE_URL", "postgresql://wrong")
    monkeypatch.setenv("SLUICE_DECLARE_QUEUES", "false")
    settings = load_settings(LedgerSettings)
    assert (settings.port, settings.pages, settings.declare_queues) == (9000, 3, False)
    assert settings.database_url.startswith("postgresql://ledger")


def test_settings_file_supports_comments_quotes_and_literal_dollars(
    secrets: Path, settings_file: Path
) -> None:
    settings_file.write_text(
        "# of the ledger\n\nSLUICE_LEDGER_HOST='::1'\nSLUICE_LEDGER_PAGES=7 # many\nOTHER=1\n"
        'SLUICE_ADDRESSES__DMS="http://a$b${HOME}"\n'
    )
    settings = load_settings(LedgerSettings)
    assert (settings.host, settings.pages, settings.addresses.by_service()["dms"]) == (
        "::1",
        7,
        "http://a$b${HOME}",
    )


def test_missing_settings_are_named_with_all_sources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SLUICE_SECRETS_DIR", str(tmp_path))
    sentences = load_wrong_settings()
    assert [sentence.split(":")[0] for sentence in sentences] == [
        "SLUICE_LEDGER_DATABASE_URL is not set",
        "SLUICE_LEDGER_BROKER_URL is not set",
    ]
    assert f"sluice_ledger_database_url in {tmp_path} (SLUICE_SECRETS_DIR)" in sentences[0]


def test_invalid_settings_are_named_with_their_source_and_never_shown(
    secrets: Path, settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (secrets / "sluice_ledger_database_url").write_text("mysql://ledger:secret@db/ledger")
    monkeypatch.setenv("SLUICE_LOG_LEVEL", "loud")
    monkeypatch.setenv("SLUICE_LEDGER_PORT", "70000")
    settings_file.write_text("SLUICE_LEDGER_PAGES=a few")
    sentences = load_wrong_settings()
    assert (
        f"SLUICE_LEDGER_DATABASE_URL (in the folder {secrets}): must begin with postgresql://"
        in sentences
    )
    assert (
        "SLUICE_LOG_LEVEL (in the environment): must be one of DEBUG, INFO, WARNING, ERROR"
        in sentences
    )
    assert (
        "SLUICE_LEDGER_PORT (in the environment): a port is a number from 0 to 65535" in sentences
    )
    assert any(
        one.startswith(f"SLUICE_LEDGER_PAGES (in the file {settings_file}): ") for one in sentences
    )
    assert "secret@" not in " ".join(sentences)


def test_unreadable_sources_of_settings_are_named(
    secrets: Path, settings_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings_file.write_text("SLUICE_LEDGER_PAGES=1\nSLUICE_LEDGER_PORT\n")
    assert load_wrong_settings() == [f"{settings_file}, line 2: expected NAME=value"]
    monkeypatch.setenv("SLUICE_SETTINGS_FILE", str(tmp_path / "none"))
    assert load_wrong_settings()[0].startswith(
        f"SLUICE_SETTINGS_FILE: the file {tmp_path / 'none'} cannot be read"
    )
    monkeypatch.delenv("SLUICE_SETTINGS_FILE")
    monkeypatch.setenv("SLUICE_SECRETS_DIR", str(tmp_path / "none"))
    assert load_wrong_settings()[0].startswith(
        f"SLUICE_SECRETS_DIR: the folder {tmp_path / 'none'} cannot be read"
    )
    monkeypatch.setenv("SLUICE_SECRETS_DIR", str(secrets))
    monkeypatch.setenv("SLUICE_ADDRESSES", "http://all")
    assert "SLUICE_LEDGER_…" in load_wrong_settings()[0]
    assert "not JSON" in load_wrong_settings()[0]


def test_unknown_variables_of_the_service_are_found(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_LEDGER_PAGE", "1")
    monkeypatch.setenv("SLUICE_LEDGER_ADDRESSES__DMS", "http://x")
    monkeypatch.setenv("SLUICE_OTHER_PAGE", "1")
    assert unknown_variables(LedgerSettings) == ["SLUICE_LEDGER_PAGE"]


def _give(monkeypatch: pytest.MonkeyPatch, setting: str, url: str) -> None:
    for service in map(short_name, SERVICES):
        monkeypatch.setenv(f"SLUICE_{service.upper()}_{setting}", url.format(service=service))


def test_logins_are_read_from_the_settings_of_the_services(monkeypatch: pytest.MonkeyPatch) -> None:
    _give(
        monkeypatch,
        "DATABASE_URL",
        "postgresql://{service}:a%2Fb%20c@db:5432/{service}_data?sslmode=require",
    )
    _give(monkeypatch, "BROKER_URL", "amqps://{service}:x@rabbit/%2Fsluice")
    logins = {login.service: login for login in database_logins()}
    assert (logins["wfms.chains"].user, logins["wfms.chains"].password) == ("chains", "a/b c")
    assert logins["wfms.chains"].place == "chains_data"
    assert {login.place for login in broker_logins()} == {"/sluice"}
    _give(monkeypatch, "BROKER_URL", "amqp://{service}:x@rabbit")
    assert {login.place for login in broker_logins()} == {"/"}


@pytest.mark.parametrize(
    ("setting", "url", "message"),
    [
        ("DATABASE_URL", "", "SLUICE_WMS_DATABASE_URL is not set"),
        ("DATABASE_URL", "postgresql://db/wms", "SLUICE_WMS_DATABASE_URL must name a login"),
        ("DATABASE_URL", "postgresql://wms:x@db", "SLUICE_WMS_DATABASE_URL must name a database"),
        (
            "DATABASE_URL",
            "postgresql://wms:%C3%A4@db/wms",
            "SLUICE_WMS_DATABASE_URL: a password may have",
        ),
        (
            "DATABASE_URL",
            "postgresql://dms:x@db/wms",
            "its own login; 'dms' is in SLUICE_DMS_DATABASE_URL and SLUICE_WMS",
        ),
        (
            "DATABASE_URL",
            "postgresql://wms:x@db/dms",
            "its own database; 'dms' is in SLUICE_DMS_DATABASE_URL and SLUICE_WMS",
        ),
        ("BROKER_URL", "postgresql://wms:x@db/wms", "SLUICE_WMS_BROKER_URL must lead to RabbitMQ"),
        ("BROKER_URL", "amqp://wms:x@db/another", "different virtual hosts"),
        ("BROKER_URL", "amqp://dms:y@db/sluice", "login dms has different passwords"),
    ],
)
def test_invalid_logins_are_named(
    monkeypatch: pytest.MonkeyPatch, setting: str, url: str, message: str
) -> None:
    _give(monkeypatch, "DATABASE_URL", "postgresql://{service}:x@db/{service}")
    _give(monkeypatch, "BROKER_URL", "amqp://{service}:x@db/sluice")
    monkeypatch.setenv(f"SLUICE_WMS_{setting}", url)
    with pytest.raises(InvalidSettings) as caught:
        database_logins() if setting == "DATABASE_URL" else broker_logins()
    assert any(message in sentence for sentence in caught.value.sentences), caught.value.sentences
