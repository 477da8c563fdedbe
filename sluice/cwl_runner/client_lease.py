"""What a waiting command owns on the system, so that it is ended when the command dies."""

import threading
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from uuid import uuid4

from sluice.cwl_runner.rest import RequestRefusedError, Rest

#: Seconds until a renewal that failed is tried again.
_PAUSE = 5.0
#: How often a lease is renewed in its life.
_RENEWALS = 3
_SERVER_ERRORS = 500


class ClientLease:
    """Context manager. A thread renews the lease while the command works or waits.

    At a deliberate end the lease is released, and what it owns stays. At any other end, and when
    the process is killed or cut off, nobody renews it, and the system ends what it owns.
    """

    def __init__(
        self,
        url: str,
        *,
        discard: bool,
        deliberate: tuple[type[BaseException], ...] = (KeyboardInterrupt,),
    ) -> None:
        """Make a lease that owns nothing yet.

        Args:
            url: Of the system.
            discard: Whether the data of chains that have finished go as well.
            deliberate: Exceptions by which a person ends the command.
        """
        self._deliberate = deliberate
        self._rest = Rest(url)
        self._path = f"/client-leases/{uuid4()}"
        self._owned: dict[str, list[str]] = {"chains": [], "datasets": [], "run_templates": []}
        self._discard = discard
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._renewing: threading.Thread | None = None
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
        if self._renewing is not None and deliberate and not self._abandoned:
            with self._lock, suppress(RequestRefusedError, OSError):  # else it expires
                self._rest.delete(self._path)
        self._rest.close()

    def abandon(self) -> None:
        """Leave what is owned as a killed command would: the system ends it after a time."""
        self._abandoned = True

    @property
    def seconds(self) -> float | None:
        """Return how long the system waits for an abandoned lease; None: it has no leases."""
        return self._seconds

    @property
    def datasets(self) -> list[str]:
        """Those that are owned now."""
        return list(self._owned["datasets"])

    def own(
        self,
        *,
        chains: Iterable[str] = (),
        datasets: Iterable[str] = (),
        run_templates: Iterable[str] = (),
    ) -> None:
        """Note what the command has just made."""
        added = {"chains": chains, "datasets": datasets, "run_templates": run_templates}
        with self._lock:
            for name, uids in added.items():
                self._owned[name] += [uid for uid in map(str, uids) if uid not in self._owned[name]]
        self._renew()
        if self._renewing is None and not self._ended.is_set():
            self._renewing = threading.Thread(target=self._keep, name="client lease", daemon=True)
            self._renewing.start()

    def give_to_chain(self, chain: str, *, datasets: Iterable[str], run_template: str) -> None:
        """Own a chain in place of its input: the data sets go with the chain from now on."""
        gone = set(datasets)
        with self._lock:
            self._owned["datasets"] = [uid for uid in self._owned["datasets"] if uid not in gone]
        self.own(chains=[chain], run_templates=[run_template])

    def _keep(self) -> None:
        while not self._ended.wait(self._pause):
            self._renew()

    def _renew(self) -> None:
        """A release before this one has no leases; a lease that has expired has ended the work,
        which the command sees by itself."""
        with self._lock:
            try:
                lease = self._rest.put(self._path, {**self._owned, "discard": self._discard})
                self._seconds = float(lease["seconds"])
                self._pause = self._seconds / _RENEWALS
            except RequestRefusedError as error:
                if error.status < _SERVER_ERRORS:
                    self._ended.set()
            except OSError:
                self._pause = _PAUSE
