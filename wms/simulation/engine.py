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
_ARRIVAL, _JOB_END, _LOAD_END, _NODE_DEATH, _NODE_JOIN, _ROUND = range(6)


class Recorder(Protocol):
    """Records what happens, for a picture."""

    def record_work(
        self, slot: SimulatedSlot, kind: int, began: float, ended: float, *, loading: bool
    ) -> None:
        """Record that a place loaded the kind, or did a job of it."""
        ...

    def record_wait(self, kind: int, ready: float, began: float) -> None:
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
        self._kinds = [work.kind for work in works]
        self._slots = [slot for node in nodes for slot in node.slots]
        self._present: list[SimulatedSlot] = []
        self._arrivals, self._random, self._recorder = coming, random, recorder
        self._until = until
        self._events: list[tuple[float, int, int, int, int]] = []
        self._next: list[SimulatedPage] = []
        self._arriving = True
        self._count = 0
        #: Idle places by loaded kind and node group (``_get_idle_key``).
        self._idle: dict[tuple[int, int], dict[int, SimulatedSlot]] = {}

    def _schedule(self, time: float, event: int, subject: int = 0, life: int = 0) -> None:
        self._count += 1
        heappush(self._events, (time, event, self._count, subject, life))

    def join(self, node: int, time: float) -> None:
        """Let the node join at that time."""
        self._schedule(time, _NODE_JOIN, node)

    def run(self) -> None:
        """Run until all pages have passed, or until the end."""
        self._await_arrival()
        if self._policy.every is not None:
            self._schedule(0.0, _ROUND)
        events, handlers = self._events, self._list_handlers()
        while events:
            time, event, _, subject, life = heappop(events)
            if self._until is not None and time > self._until:
                self.now = self._until
                break
            if not self._arriving and self.finished == self.pages:
                break
            self.now = time
            handlers[event](subject, life)

    def _list_handlers(self) -> list[Callable[[int, int], None]]:
        """Return the handlers of events by the number of the event."""
        return [
            self._handle_arrival,
            self._handle_job_end,
            self._handle_load_end,
            self._handle_node_death,
            self._handle_node_join,
            self._handle_round,
        ]

    def _await_arrival(self) -> None:
        following = self._arrivals.get_next_arrival()
        if following is None:
            self._arriving = False
        else:
            time, self._next = following
            self._schedule(time, _ARRIVAL)

    def _handle_arrival(self, subject: int, life: int) -> None:
        pages = self._next
        self.pages += len(pages)
        self._await_arrival()
        self._enter_pages([page for page in pages if self._arrivals.admit(page)])

    def _enter_pages(self, pages: Sequence[SimulatedPage]) -> None:
        kinds = self._kinds
        for page in pages:
            remaining_work = 0.0
            for number in reversed(page.stages):
                kinds[number].learn_after(remaining_work)
                remaining_work += kinds[number].mean
            self._queue_page(page)
        for page in pages:
            self._wake(page.kind)

    def _queue_page(self, page: SimulatedPage) -> None:
        page.ready = self.now
        self._works[page.kind].enqueue(page)

    def _handle_job_end(self, subject: int, life: int) -> None:
        slot = self._slots[subject]
        if slot.life != life or slot.page is None or slot.loaded_kind is None:
            return
        page, kind, took = slot.page, slot.loaded_kind, self.now - slot.began
        work = self._works[kind]
        slot.page = None
        self._record_work(slot, kind, loading=False)
        work.kind.learn(took)
        work.working.append(took)
        work.waiting.append(slot.began - page.ready)
        page.worked += took
        page.stage += 1
        if page.stage == len(page.stages):
            self._finish_page(page)
        else:
            self._queue_page(page)
            # An idle place comes before this place, which would have to load another kind.
            if page.kind != kind:
                self._wake(page.kind)
        self._assign_next_work(slot)

    def _finish_page(self, page: SimulatedPage) -> None:
        passage = self.now - page.born
        self.finished += 1
        self.passage.append(passage)
        self.working.append(page.worked)
        self.waiting.append(passage - page.worked)
        opened = self._arrivals.record_passage(page)
        for waiting_page in opened:
            waiting_page.born = self.now
        self._enter_pages(opened)

    def _handle_load_end(self, subject: int, life: int) -> None:
        slot = self._slots[subject]
        if slot.life != life or slot.place.loaded is None:
            return
        kind = slot.loaded_kind = slot.place.loaded
        self._kinds[kind].coming -= 1
        self._works[kind].loads += 1
        self._record_work(slot, kind, loading=True)
        should_begin = self._kinds[kind].ready and self._kinds[kind].is_enabled
        if should_begin and slot.goes_to is None and self._has_resources(slot, kind):
            self._begin(slot)
        else:
            self._assign_next_work(slot)

    def _record_work(self, slot: SimulatedSlot, kind: int, *, loading: bool) -> None:
        if loading:
            self.loading += self.now - slot.began
        else:
            self.busy += self.now - slot.began
        if self._recorder is not None:
            self._recorder.record_work(slot, kind, slot.began, self.now, loading=loading)

    def _assign_next_work(self, slot: SimulatedSlot) -> None:
        """Give the place its next work, or make it idle."""
        has_freed = self._release(slot)
        if slot.goes_to is not None:
            kind, slot.goes_to = slot.goes_to, None
            self._load(slot, kind)
        elif not self._ask(slot):
            slot.place.is_idle = True
            self._idle.setdefault(_get_idle_key(slot), {})[slot.place.number] = slot
        if has_freed:
            self._wake_beside(slot)

    def _wake_beside(self, slot: SimulatedSlot) -> None:
        """Ask the policy for idle places of the same node, because the node has free capacity."""
        for neighbour in slot.node.slots:
            if neighbour is not slot and neighbour.place.is_idle:
                self._ask_idle(neighbour)

    def _ask_idle(self, slot: SimulatedSlot) -> bool:
        idle_key = _get_idle_key(slot)
        if not self._ask(slot):
            return False
        del self._idle[idle_key][slot.place.number]
        if not self._idle[idle_key]:
            del self._idle[idle_key]
        return True

    def _allocate(self, slot: SimulatedSlot, kind: int) -> None:
        """Take what a job of the kind needs from a shared node, if it has enough."""
        free, needs = slot.node.free, self._works[kind].needs
        if free is not None and slot.took is None and free.covers(needs):
            free.add(needs, -1)
            slot.took = needs

    def _release(self, slot: SimulatedSlot) -> bool:
        if slot.took is None or slot.node.free is None:
            return False
        slot.node.free.add(slot.took)
        slot.took = None
        return True

    def _has_resources(self, slot: SimulatedSlot, kind: int) -> bool:
        free = slot.node.free
        return free is None or slot.took is not None or free.covers(self._works[kind].needs)

    def _choose_kind(self, slot: SimulatedSlot) -> int | None:
        """Return the kind that the policy chooses, or None.

        The policy chooses among the kinds that the node can run. On a shared node, it chooses among
        those for which the node has enough free capacity now.
        """
        place = slot.place
        if slot.node.free is None:
            return self._policy.next_kind(self._kinds, place, self.now)
        suits = tuple(kind for kind in place.suits if self._has_resources(slot, kind))
        if not suits:
            return None
        loaded = place.loaded if place.loaded in suits else None
        restricted_place = Place(place.number, suits, loaded, place.moved)
        return self._policy.next_kind(self._kinds, restricted_place, self.now)

    def _ask(self, slot: SimulatedSlot) -> bool:
        """Ask the policy for work for the place, and return whether there is any."""
        kind = self._choose_kind(slot)
        if kind is None:
            return False
        if kind == slot.loaded_kind:
            self._begin(slot)
        else:
            self._send(slot, kind)
            self._load(slot, kind)
        return True

    def _send(self, slot: SimulatedSlot, kind: int) -> None:
        """Count the place as serving the kind from now on."""
        place = slot.place
        if place.loaded is not None:
            self._kinds[place.loaded].serving -= 1
            if slot.loaded_kind != place.loaded:
                self._kinds[place.loaded].coming -= 1
        self._kinds[kind].serving += 1
        self._kinds[kind].coming += 1
        place.loaded, place.moved = kind, self.now

    def _load(self, slot: SimulatedSlot, kind: int) -> None:
        slot.place.is_idle = False
        slot.loaded_kind, slot.began = None, self.now
        self._allocate(slot, kind)
        takes = self._kinds[kind].loading / slot.node.speed
        self._schedule(self.now + takes, _LOAD_END, slot.place.number, slot.life)

    def _begin(self, slot: SimulatedSlot) -> None:
        """Begin the next job of the loaded kind."""
        kind = slot.place.loaded or 0
        work, node = self._works[kind], slot.node
        page = slot.page = work.dequeue()
        self._allocate(slot, kind)
        slot.place.is_idle, slot.began = False, self.now
        if self._recorder is not None:
            self._recorder.record_wait(kind, page.ready, self.now)
        takes = page.times[page.stage] / node.speed + node.delay
        if node.jitter:
            takes += node.jitter * (2 * self._random.random() - 1)
        self._schedule(self.now + max(takes, 0.0), _JOB_END, slot.place.number, slot.life)

    def _wake(self, kind: int) -> None:
        """Let an idle place take a ready job of the kind.

        One place of each sort is asked: first places with the kind loaded, then places with nothing
        loaded, then the others, each from the fastest on.
        """
        if not self._kinds[kind].ready or not self._idle:
            return
        for idle_key in sorted(self._idle, key=lambda key: (key[0] != kind, key[0] >= 0, key[1])):
            alike = self._idle[idle_key]
            number = next(iter(alike))
            if self._ask_idle(alike[number]):
                return

    def _handle_round(self, subject: int, life: int) -> None:
        places = [slot.place for slot in self._present if slot.goes_to is None]
        for move in self._policy.moves(self._kinds, places, self.now):
            slot = self._slots[move.place]
            if slot.place.is_idle:
                self._remove_idle(slot)
                self._send(slot, move.kind)
                self._load(slot, move.kind)
            elif slot.place.loaded == slot.loaded_kind:
                self._send(slot, move.kind)
                slot.goes_to = move.kind
        # Without further events no round can change anything.
        if self._policy.every is not None and self._events:
            self._schedule(self.now + self._policy.every, _ROUND)

    def _remove_idle(self, slot: SimulatedSlot) -> None:
        idle_key = _get_idle_key(slot)
        del self._idle[idle_key][slot.place.number]
        if not self._idle[idle_key]:
            del self._idle[idle_key]

    def _handle_node_join(self, subject: int, life: int) -> None:
        node = self._nodes[subject]
        for slot in node.slots:
            self._present.append(slot)
            self._assign_next_work(slot)
        if node.lives is not None:
            self._schedule(self.now + node.lives(), _NODE_DEATH, subject)

    def _handle_node_death(self, subject: int, life: int) -> None:
        node = self._nodes[subject]
        for slot in node.slots:
            self._remove_slot(slot)
        if node.away is not None:
            self._schedule(self.now + node.away(), _NODE_JOIN, subject)

    def _remove_slot(self, slot: SimulatedSlot) -> None:
        if slot.place.is_idle:
            self._remove_idle(slot)
        loaded = slot.place.loaded
        if loaded is not None:
            self._kinds[loaded].serving -= 1
            self._kinds[loaded].coming -= slot.loaded_kind != loaded
        page, slot.page = slot.page, None
        self._release(slot)
        self._present.remove(slot)
        slot.life += 1
        slot.loaded_kind = slot.place.loaded = slot.goes_to = None
        slot.place.is_idle = False
        if page is not None:
            self._works[page.kind].lost += 1
            self._works[page.kind].enqueue(page, first=True)
            self._wake(page.kind)


def _get_idle_key(slot: SimulatedSlot) -> tuple[int, int]:
    loaded = slot.place.loaded
    return (-1 if loaded is None else loaded, slot.node.group)
