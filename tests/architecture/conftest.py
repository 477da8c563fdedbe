"""These tests read the tree, so they run at its root wherever pytest was started."""

import pytest

from tests.architecture.sources import ROOT


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process reads and parses the tree."""
    for item in items:
        if (
            item.path.parent == ROOT / "tests/architecture"
            and item.get_closest_marker("xdist_group") is None
        ):
            item.add_marker(pytest.mark.xdist_group("architecture"))


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
