"""Client leases, so that the system ends what a dead command has left on it."""

import threading
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from uuid import uuid4

from sluice.cwl_runner.rest import RequestRefusedError, RestConnection

#: Seconds until a failed renewal is repeated.
_PAUSE = 5.0
#: Renewals within the duration of a lease.
_RENEWALS = 3
_SERVER_ERRORS = 500


class ClientLease:
    """A context manager that keeps a lease while a command works or waits.

    A thread renews the lease. At a deliberate end the lease is released, and what it owns stays. At
    any other end, and if the process is killed or cut off, the lease is not renewed. Then the
    system ends what it owns.
    """

    def __init__(
        self,
        url: str,
        *,
        discard: bool,
        deliberate: tuple[type[BaseException], ...] = (KeyboardInterrupt,),
    ) -> None:
        """Create a lease that owns nothing yet.

        Args:
            url: The address of the system.
            discard: Whether the data of finished chains is deleted too.
            deliberate: Exceptions with which a person ends the command.
        """
        self._deliberate = deliberate
        self._rest = RestConnection(url)
        self._path = f"/client-leases/{uuid4()}"
        self._owned_objects: dict[str, list[str]] = {
            "chains": [],
            "datasets": [],
            "run_templates": [],
        }
        self._discard = discard
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._renewal_thread: threading.Thread | None = None
        self._pause = _PAUSE
        self._seconds: float | None = None
        self._abandoned = False

    def __enter__(self) -> "ClientLease":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        deliberate = kind is None or issubclass(kind, self._deliberate)
        if self._renewal_thread is not None and deliberate and not self._abandoned:
            with self._lock, suppress(RequestRefusedError, OSError):  # otherwise it expires
                self._rest.delete(self._path)
        self._rest.close()

    def abandon(self) -> None:
        """Do not release the lease at the end, so that the system ends what it owns."""
        self._abandoned = True

    @property
    def seconds(self) -> float | None:
        """Return how long the lease lasts without a renewal, or None without a lease."""
        return self._seconds

    @property
    def datasets(self) -> list[str]:
        """Return the data sets that the lease owns."""
        return list(self._owned_objects["datasets"])

    def own(
        self,
        *,
        chains: Iterable[str] = (),
        datasets: Iterable[str] = (),
        run_templates: Iterable[str] = (),
    ) -> None:
        """Add objects that the command has just created."""
        added = {"chains": chains, "datasets": datasets, "run_templates": run_templates}
        with self._lock:
            for name, uids in added.items():
                self._owned_objects[name] += [
                    uid for uid in map(str, uids) if uid not in self._owned_objects[name]
                ]
        self._renew()
        if self._renewal_thread is None and not self._ended.is_set():
            self._renewal_thread = threading.Thread(
                target=self._renew_until_end, name="client lease", daemon=True
            )
            self._renewal_thread.start()

    def transfer_to_chain(self, chain: str, *, datasets: Iterable[str], run_template: str) -> None:
        """Own a chain instead of its input data sets, which belong to the chain from now on."""
        chain_datasets = set(datasets)
        with self._lock:
            self._owned_objects["datasets"] = [
                uid for uid in self._owned_objects["datasets"] if uid not in chain_datasets
            ]
        self.own(chains=[chain], run_templates=[run_template])

    def _renew_until_end(self) -> None:
        while not self._ended.wait(self._pause):
            self._renew()

    def _renew(self) -> None:
        """Renew the lease; stop if the system refuses it.

        An expired lease has ended the work, which the command notices anyway.
        """
        with self._lock:
            try:
                lease = self._rest.put(
                    self._path, {**self._owned_objects, "discard": self._discard}
                )
                self._seconds = float(lease["seconds"])
                self._pause = self._seconds / _RENEWALS
            except RequestRefusedError as error:
                if error.status < _SERVER_ERRORS:
                    self._ended.set()
            except OSError:
                self._pause = _PAUSE
