"""The stack of the suite: its compose file with more environment, databases, and control socket."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from stack.running_stack import ROOT, RunningStack

#: Services of the compose file that do no work.
_EXCLUDED_SERVICES = {"backup", "prometheus", "grafana"}
#: Fields that pilots of sites share with our own pilots.
_OF_PILOTS = ("image", "command", "env_file", "volumes", "restart")


class StackControl:
    """A running stack, controlled without blocking the event loop."""

    def __init__(self, stack: RunningStack) -> None:
        self._stack = stack
        self._description = stack.state()

    @property
    def databases(self) -> dict[str, str]:
        """Map short names of services to URLs of their databases, as administrator."""
        return cast(dict[str, str], self._description["databases"])

    @property
    def management_url(self) -> str:
        return cast(str, self._description["management_url"])

    @property
    def folder(self) -> Path:
        """Return the folder of all files of the stack."""
        return Path(cast(str, self._description["data"])).parent

    def url(self, service: str) -> str:
        return cast(str, self._description["services"][service])

    async def send_request(self, **request: object) -> Any:
        """Send a request to the stack; raise ``OSError`` if it answers with an error."""
        return await asyncio.to_thread(self._stack.ask, **request)

    async def process(self, target: str) -> dict[str, Any]:
        """Return name, process id (None if not running) and readiness of ``<service>/<number>``."""
        service, number = target.split("/")
        processes = [
            process
            for process in await self.send_request(do="processes")
            if process["service"] == service
        ]
        return cast(
            dict[str, Any],
            sorted(processes, key=lambda process: cast(str, process["name"]))[int(number)],
        )


def write_compose(
    folder: Path,
    environment: Mapping[str, Mapping[str, str]],
    *,
    sites: Mapping[str, Path],
) -> Path:
    """Write a copy of the compose file with more environment and with pilots of sites.

    Pilots of ``sites`` enrol with the token in the file. Monitoring and backup are left out; all
    else is as in production.
    """
    folder.mkdir(parents=True, exist_ok=True)
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    compose["services"] = {
        name: process
        for name, process in compose["services"].items()
        if name not in _EXCLUDED_SERVICES
    }
    for site, token in sites.items():
        pilot = {name: compose["services"]["pilot"][name] for name in _OF_PILOTS}
        pilot["environment"] = {"SLUICE_PILOT_TOKEN_FILE": str(token)}
        compose["services"][site] = pilot
    for service, values in environment.items():
        compose["services"][service]["environment"] = compose["services"][service].get(
            "environment", {}
        ) | dict(values)
    link = folder / "deploy"
    link.unlink(missing_ok=True)
    link.symlink_to(ROOT / "deploy")
    path = folder / "docker-compose.yml"
    path.write_text(yaml.safe_dump(compose, sort_keys=False))
    return path
