from tests.unit.pilot.conftest import root, runner

__all__ = ["root", "runner"]
