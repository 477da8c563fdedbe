"""Tools in containers give the same answer with cwltool and with Sluice.

Both runners use Docker's command, for which Podman stands in.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.differential.answers import run_with_cwltool, run_with_sluice
from tests.differential.input_texts import TEXTS
from tests.e2e.systems import run_live_system
from tests.servers.podman import start_podman

pytestmark = [
    pytest.mark.xdist_group("differential"),
    pytest.mark.long(
        "tests/unit/pilot/runner/containers/test_containers.py runs tools in containers"
    ),
]

TEMPLATE = Path(__file__).parent / "containers" / "container.cwl"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    podman = start_podman()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "docker").write_text('#!/bin/sh\nexec podman "$@"\n')
    (programs / "docker").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in podman.environment.items():
            patch.setenv(name, value)
        patch.setenv("PATH", str(programs), prepend=":")
        patch.setenv("SLUICE_PILOT_CONTAINERS", '["docker"]')
        with run_live_system() as system:
            yield system.url
    assert podman.containers() == []
    podman.stop()


def test_tool_in_a_container_gives_the_same_answer_as_cwltool(url: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    files = [tmp_path / "in" / name for name in list(TEXTS)[:3]]
    for path in files:
        path.write_text(TEXTS[path.name])
    expected = run_with_cwltool(TEMPLATE, files, {}, folder=tmp_path)
    assert all(expected.values())
    assert expected.keys() == {"marked", "sizes", "all"}
    assert run_with_sluice(url, TEMPLATE, files, {}) == expected
