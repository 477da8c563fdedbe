"""The simulated clock: events in order of time, and what each of them does.

A policy of ``wms/domain`` makes the decisions.
"""

from array import array
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from random import Random
from typing import Protocol

from wms.domain.placement.policy import Place, Policy
from wms.simulation.arrival_queue import ArrivalQueue
from wms.simulation.world import Node, SimulatedPage, SimulatedSlot, Work

#: Kinds of events, in the order in which simultaneous events happen.
_COMES, _ENDS, _LOADED, _DIES, _JOINS, _ROUND = range(6)


class Recorder(Protocol):
    """Records what happens, for a picture."""

    def spent(
        self, seat: SimulatedSlot, kind: int, began: float, ended: float, *, loading: bool
    ) -> None:
        """Record that a place loaded the kind, or did a job of it."""
        ...

    def waited(self, kind: int, ready: float, began: float) -> None:
        """Record that a job was taken from the queue of the kind."""
        ...


class Simulation:
    """A simulation; it ends at ``until`` at the latest."""

    def __init__(
        self,
        policy: Policy,
        works: Sequence[Work],
        nodes: Sequence[Node],
        *,
        coming: ArrivalQueue,
        random: Random,
        until: float | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.now, self.pages, self.finished = 0.0, 0, 0
        self.busy, self.loading = 0.0, 0.0
        self.waiting, self.working, self.passage = array("d"), array("d"), array("d")
        self._policy, self._works, self._nodes = policy, works, nodes
        self._kinds = [work.seen for work in works]
        self._seats = [seat for node in nodes for seat in node.seats]
        self._present: list[SimulatedSlot] = []
        self._coming, self._random, self._recorder = coming, random, recorder
        self._until = until
        self._events: list[tuple[float, int, int, int, int]] = []
        self._next: list[SimulatedPage] = []
        self._arriving = True
        self._count = 0
        #: Idle places by loaded kind and node group (``_like``).
        self._idle: dict[tuple[int, int], dict[int, SimulatedSlot]] = {}

    def _at(self, time: float, what: int, subject: int = 0, life: int = 0) -> None:
        self._count += 1
        heappush(self._events, (time, what, self._count, subject, life))

    def join(self, node: int, time: float) -> None:
        """Let the node join at that time."""
        self._at(time, _JOINS, node)

    def run(self) -> None:
        """Run until all pages have passed, or until the end."""
        self._await_arrival()
        if self._policy.every is not None:
            self._at(0.0, _ROUND)
        events, does = self._events, self._does()
        while events:
            time, what, _, subject, life = heappop(events)
            if self._until is not None and time > self._until:
                self.now = self._until
                break
            if not self._arriving and self.finished == self.pages:
                break
            self.now = time
            does[what](subject, life)

    def _does(self) -> list[Callable[[int, int], None]]:
        """Return the handlers of events by the number of the event."""
        return [self._comes, self._ends, self._loaded, self._dies, self._joins, self._round]

    def _await_arrival(self) -> None:
        following = self._coming.following()
        if following is None:
            self._arriving = False
        else:
            time, self._next = following
            self._at(time, _COMES)

    def _comes(self, subject: int, life: int) -> None:
        pages = self._next
        self.pages += len(pages)
        self._await_arrival()
        self._let_in([page for page in pages if self._coming.lets_in(page)])

    def _let_in(self, pages: Sequence[SimulatedPage]) -> None:
        kinds = self._kinds
        for page in pages:
            left = 0.0
            for number in reversed(page.stages):
                kinds[number].learn_after(left)
                left += kinds[number].mean
            self._put(page)
        for page in pages:
            self._wake(page.kind)

    def _put(self, page: SimulatedPage) -> None:
        page.ready = self.now
        self._works[page.kind].put(page)

    def _ends(self, subject: int, life: int) -> None:
        seat = self._seats[subject]
        if seat.life != life or seat.page is None or seat.holds is None:
            return
        page, kind, took = seat.page, seat.holds, self.now - seat.began
        work = self._works[kind]
        seat.page = None
        self._spent(seat, kind, loading=False)
        work.seen.learn(took)
        work.working.append(took)
        work.waiting.append(seat.began - page.ready)
        page.worked += took
        page.stage += 1
        if page.stage == len(page.stages):
            self._out(page)
        else:
            self._put(page)
            # An idle place comes before this place, which would have to load another kind.
            if page.kind != kind:
                self._wake(page.kind)
        self._free(seat)

    def _out(self, page: SimulatedPage) -> None:
        passage = self.now - page.born
        self.finished += 1
        self.passage.append(passage)
        self.working.append(page.worked)
        self.waiting.append(passage - page.worked)
        opened = self._coming.passed(page)
        for waited in opened:
            waited.born = self.now
        self._let_in(opened)

    def _loaded(self, subject: int, life: int) -> None:
        seat = self._seats[subject]
        if seat.life != life or seat.place.loaded is None:
            return
        kind = seat.holds = seat.place.loaded
        self._kinds[kind].coming -= 1
        self._works[kind].loads += 1
        self._spent(seat, kind, loading=True)
        is_wanted = self._kinds[kind].ready and self._kinds[kind].is_on
        if is_wanted and seat.goes_to is None and self._has_room(seat, kind):
            self._begin(seat)
        else:
            self._free(seat)

    def _spent(self, seat: SimulatedSlot, kind: int, *, loading: bool) -> None:
        if loading:
            self.loading += self.now - seat.began
        else:
            self.busy += self.now - seat.began
        if self._recorder is not None:
            self._recorder.spent(seat, kind, seat.began, self.now, loading=loading)

    def _free(self, seat: SimulatedSlot) -> None:
        """Give the place its next work, or make it idle."""
        given_back = self._give_back(seat)
        if seat.goes_to is not None:
            kind, seat.goes_to = seat.goes_to, None
            self._load(seat, kind)
        elif not self._ask(seat):
            seat.place.is_idle = True
            self._idle.setdefault(_like(seat), {})[seat.place.number] = seat
        if given_back:
            self._wake_beside(seat)

    def _wake_beside(self, seat: SimulatedSlot) -> None:
        """Ask the policy for idle places of the same node, because the node has free capacity."""
        for beside in seat.node.seats:
            if beside is not seat and beside.place.is_idle:
                self._ask_idle(beside)

    def _ask_idle(self, seat: SimulatedSlot) -> bool:
        like = _like(seat)
        if not self._ask(seat):
            return False
        del self._idle[like][seat.place.number]
        if not self._idle[like]:
            del self._idle[like]
        return True

    def _take(self, seat: SimulatedSlot, kind: int) -> None:
        """Take what a job of the kind needs from a shared node, if it has enough."""
        room, needs = seat.node.room, self._works[kind].needs
        if room is not None and seat.took is None and room.holds(needs):
            room.add(needs, -1)
            seat.took = needs

    def _give_back(self, seat: SimulatedSlot) -> bool:
        if seat.took is None or seat.node.room is None:
            return False
        seat.node.room.add(seat.took)
        seat.took = None
        return True

    def _has_room(self, seat: SimulatedSlot, kind: int) -> bool:
        room = seat.node.room
        return room is None or seat.took is not None or room.holds(self._works[kind].needs)

    def _choice(self, seat: SimulatedSlot) -> int | None:
        """Return the kind that the policy chooses, or None.

        The policy chooses among the kinds that the node can run. On a shared node, it chooses among
        those for which the node has enough free capacity now.
        """
        place = seat.place
        if seat.node.room is None:
            return self._policy.next_kind(self._kinds, place, self.now)
        suits = tuple(kind for kind in place.suits if self._has_room(seat, kind))
        if not suits:
            return None
        loaded = place.loaded if place.loaded in suits else None
        seen = Place(place.number, suits, loaded, place.moved)
        return self._policy.next_kind(self._kinds, seen, self.now)

    def _ask(self, seat: SimulatedSlot) -> bool:
        """Ask the policy for work for the place, and return whether there is any."""
        kind = self._choice(seat)
        if kind is None:
            return False
        if kind == seat.holds:
            self._begin(seat)
        else:
            self._send(seat, kind)
            self._load(seat, kind)
        return True

    def _send(self, seat: SimulatedSlot, kind: int) -> None:
        """Count the place as serving the kind from now on."""
        place = seat.place
        if place.loaded is not None:
            self._kinds[place.loaded].serving -= 1
            if seat.holds != place.loaded:
                self._kinds[place.loaded].coming -= 1
        self._kinds[kind].serving += 1
        self._kinds[kind].coming += 1
        place.loaded, place.moved = kind, self.now

    def _load(self, seat: SimulatedSlot, kind: int) -> None:
        seat.place.is_idle = False
        seat.holds, seat.began = None, self.now
        self._take(seat, kind)
        takes = self._kinds[kind].loading / seat.node.speed
        self._at(self.now + takes, _LOADED, seat.place.number, seat.life)

    def _begin(self, seat: SimulatedSlot) -> None:
        """Begin the next job of the loaded kind."""
        kind = seat.place.loaded or 0
        work, node = self._works[kind], seat.node
        page = seat.page = work.take()
        self._take(seat, kind)
        seat.place.is_idle, seat.began = False, self.now
        if self._recorder is not None:
            self._recorder.waited(kind, page.ready, self.now)
        takes = page.times[page.stage] / node.speed + node.delay
        if node.jitter:
            takes += node.jitter * (2 * self._random.random() - 1)
        self._at(self.now + max(takes, 0.0), _ENDS, seat.place.number, seat.life)

    def _wake(self, kind: int) -> None:
        """Let an idle place take a ready job of the kind.

        One place of each sort is asked: first places with the kind loaded, then places with nothing
        loaded, then the others, each from the fastest on.
        """
        if not self._kinds[kind].ready or not self._idle:
            return
        for like in sorted(self._idle, key=lambda like: (like[0] != kind, like[0] >= 0, like[1])):
            alike = self._idle[like]
            number = next(iter(alike))
            if self._ask_idle(alike[number]):
                return

    def _round(self, subject: int, life: int) -> None:
        places = [seat.place for seat in self._present if seat.goes_to is None]
        for move in self._policy.moves(self._kinds, places, self.now):
            seat = self._seats[move.place]
            if seat.place.is_idle:
                self._idle_no_more(seat)
                self._send(seat, move.kind)
                self._load(seat, move.kind)
            elif seat.place.loaded == seat.holds:
                self._send(seat, move.kind)
                seat.goes_to = move.kind
        # Without further events no round can change anything.
        if self._policy.every is not None and self._events:
            self._at(self.now + self._policy.every, _ROUND)

    def _idle_no_more(self, seat: SimulatedSlot) -> None:
        like = _like(seat)
        del self._idle[like][seat.place.number]
        if not self._idle[like]:
            del self._idle[like]

    def _joins(self, subject: int, life: int) -> None:
        node = self._nodes[subject]
        for seat in node.seats:
            self._present.append(seat)
            self._free(seat)
        if node.lives is not None:
            self._at(self.now + node.lives(), _DIES, subject)

    def _dies(self, subject: int, life: int) -> None:
        node = self._nodes[subject]
        for seat in node.seats:
            self._vanish(seat)
        if node.away is not None:
            self._at(self.now + node.away(), _JOINS, subject)

    def _vanish(self, seat: SimulatedSlot) -> None:
        if seat.place.is_idle:
            self._idle_no_more(seat)
        loaded = seat.place.loaded
        if loaded is not None:
            self._kinds[loaded].serving -= 1
            self._kinds[loaded].coming -= seat.holds != loaded
        page, seat.page = seat.page, None
        self._give_back(seat)
        self._present.remove(seat)
        seat.life += 1
        seat.holds = seat.place.loaded = seat.goes_to = None
        seat.place.is_idle = False
        if page is not None:
            self._works[page.kind].lost += 1
            self._works[page.kind].put(page, first=True)
            self._wake(page.kind)


def _like(seat: SimulatedSlot) -> tuple[int, int]:
    loaded = seat.place.loaded
    return (-1 if loaded is None else loaded, seat.node.group)
