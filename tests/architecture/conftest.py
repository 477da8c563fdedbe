"""Run the tests of this folder in the repository's root and in one process."""

import pytest

from tests.architecture.sources import ROOT


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put all tests of this folder into one process, which parses the tree once."""
    for item in items:
        if (
            item.path.parent == ROOT / "tests/architecture"
            and item.get_closest_marker("xdist_group") is None
        ):
            item.add_marker(pytest.mark.xdist_group("architecture"))


@pytest.fixture(autouse=True)
def change_to_repository_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
