"""The pilot's command line."""

import pytest

from pilot.command import main


def test_wrong_settings_are_said_in_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PILOT_CORES", "none")
    assert main(["--wms-url", "http://127.0.0.1:1", "--name", "farm/1"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("sluice-pilot: --name: 'farm/1' has '/': a name has letters")
    assert said[1].startswith("sluice-pilot: SLUICE_PILOT_CORES: Input should be a valid number")
    assert len(said) == 2


def test_a_list_that_is_none_is_said_in_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PILOT_SANDBOX_PATHS", "/software")
    assert main([]) == 2
    [said] = capsys.readouterr().err.splitlines()
    assert 'field "sandbox_paths": it is not JSON' in said
    assert said.endswith("""a list is written so: '["one", "two"]'""")
