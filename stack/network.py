"""Translation of names and ports of the container network to ports of this machine."""

import re
from collections.abc import Iterator, Mapping

from stack.compose import InvalidComposeFile
from stack.links import ProxyLink
from stack.plan import OUTSIDE, StackPlan, reference
from stack.ports import LOOPBACK, free_ports
from stack.targets import Endpoint, Target


class Network:
    """The network of a stack.

    ``direct`` uses no proxy for a target with one process, for measurements. Such links cannot
    fail.
    """

    def __init__(self, plan: StackPlan, *, direct: bool = False) -> None:
        self.links: dict[str, ProxyLink] = {}
        self._plan = plan
        self._direct = direct
        self._targets: Mapping[tuple[str, int], Target] = {
            (service.name, port): Target(free_ports(service.replicas))
            for service in plan.services.values()
            for port in service.ports
        }

    def address(self, client: str, service: str, port: int) -> str:
        """Return the address (``127.0.0.1:…``) at which ``client`` reaches a service."""
        target = self._targets.get((service, port))
        if target is None:
            raise InvalidComposeFile(
                f"{client} is to use {service}:{port}, but nothing of it is run here"
            )
        if self._direct and len(target.endpoints) == 1:
            return f"{LOOPBACK}:{target.endpoints[0].port}"
        name = f"{client}>{service}"
        link = self.links.setdefault(name, ProxyLink(name))
        return f"{LOOPBACK}:{link.find_local_port(port, target)}"

    def outside(self, service: str, port: int) -> str:
        """Return the address at which processes outside the stack reach a service."""
        return self.address(OUTSIDE, service, port)

    def endpoints(self, service: str, replica: int) -> dict[int, Endpoint]:
        """Return the endpoints of a replica (0, 1, …) by port in the container."""
        return {
            port: target.endpoints[replica]
            for (name, port), target in self._targets.items()
            if name == service
        }

    def translate(self, client: str, text: str) -> str:
        """Replace every ``service:port`` in a text by the address for ``client``."""
        for service in self._services():

            def address(match: re.Match[str], to: str = service) -> str:
                return self.address(client, to, int(match[1]))

            text = reference(service).sub(address, text)
        return text

    def close(self) -> None:
        """Close all links."""
        for link in self.links.values():
            link.close()

    def _services(self) -> Iterator[str]:
        yield from self._plan.services
        yield from self._plan.skipped_services
