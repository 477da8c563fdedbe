"""These tests read the tree, so they run at its root wherever pytest was started."""

import pytest

from tests.architecture.sources import ROOT


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
