"""Run jobs of a WMS on this node until SIGTERM (finish jobs) or a second SIGTERM (stop them)."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

import structlog
from pydantic import ValidationError

from pilot.folders.ownership import UnsafeFolderError
from pilot.folders.pilot_folder import FolderInUseError
from pilot.isolation.node.sandboxes import NoSandboxError
from pilot.isolation.node.slot_users import UnsuitableUsersError
from pilot.settings import PilotSettings, format_errors
from pilot.wiring import run_pilot
from sluice.network.proxies import UnusableProxy
from sluice.process.garbage_collection import freeze_loaded_objects
from sluice.servicekit.running.logging import configure_logging
from sluice.servicekit.settings_sources import unknown_among
from sluice.tools.visible_paths import absolute_entries

log = structlog.get_logger(__name__)

#: Log event and exit code for each error that prevents the start of the pilot.
_REFUSALS: dict[type[Exception], tuple[str, int]] = {
    FolderInUseError: ("pilot.folder_in_use", 3),
    NoSandboxError: ("pilot.no_sandbox", 2),
    UnsuitableUsersError: ("pilot.wrong_users", 2),
    UnsafeFolderError: ("pilot.folder_unsafe", 2),
    UnusableProxy: ("pilot.unusable_proxy", 2),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the pilot and return its exit code.

    Returns:
        0 after a requested end, 3 when another pilot of this name works here, and 2 for wrong
            settings. Wrong settings include an unsafe folder, a required sandbox that is missing,
            unknown users and an unusable proxy.
    """
    parser = argparse.ArgumentParser(prog="sluice-pilot", description=__doc__)
    parser.add_argument("--wms-url", help="base URL of the WMS")
    parser.add_argument("--name", help="name of this pilot (default: the host's)")
    parser.add_argument(
        "--slots",
        type=int,
        help="maximum number of jobs at the same time (default: ten for each core, at least 16, or"
        " the number of slot users if tools run as these users)",
    )
    parser.add_argument("--work-dir", type=Path, help="folder for jobs and unsent reports")
    parser.add_argument(
        "--drain-timeout",
        type=float,
        help="seconds for running jobs to end after SIGTERM (default: no limit)",
    )
    parser.add_argument("--log-level", help="DEBUG, INFO, WARNING or ERROR")
    options = {
        key: value for key, value in vars(parser.parse_args(arguments)).items() if value is not None
    }
    try:
        settings = PilotSettings(**options)
    except ValidationError as error:
        for sentence in format_errors(error, options):
            print(f"sluice-pilot: {sentence}", file=sys.stderr)
        return 2
    configure_logging("pilot", level=settings.log_level)
    structlog.contextvars.bind_contextvars(pilot=settings.name)
    if unknown := unknown_among(os.environ, PilotSettings):
        log.warning("settings.unknown", variables=unknown)
    search_path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = absolute_entries(search_path)
    if os.environ["PATH"] != search_path:
        log.warning(
            "path.relative_entries",
            path=search_path,
            note="entries that depend on the folder that a process works in are not used",
        )
    freeze_loaded_objects()
    try:
        asyncio.run(run_pilot(settings))
    except tuple(_REFUSALS) as error:
        event, code = _REFUSALS[type(error)]
        log.error(event, reason=str(error))
        return code
    return 0
