"""The simulated clock: events in order of time, and what each of them does.

A policy of ``wms/domain`` makes the decisions.
"""

from array import array
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from random import Random
from typing import Protocol

from wms.domain.placement.policy import Policy, WarmSlot
from wms.simulation.arrival_queue import ArrivalQueue
from wms.simulation.world import Node, SimulatedItem, SimulatedSlot, Work

#: Kinds of events, in the order in which simultaneous events happen.
_ARRIVAL, _JOB_END, _LOAD_END, _NODE_DEATH, _NODE_JOIN, _ROUND = range(6)


class Recorder(Protocol):
    """Records what happens, for a picture."""

    def record_work(
        self, slot: SimulatedSlot, kind: int, began: float, ended: float, *, loading: bool
    ) -> None:
        """Record that a slot loaded the kind, or did a job of it."""
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
        arrival_queue: ArrivalQueue,
        random: Random,
        until: float | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.now, self.items, self.finished = 0.0, 0, 0
        self.busy, self.loading = 0.0, 0.0
        self.waiting, self.working, self.turnaround = array("d"), array("d"), array("d")
        self._policy, self._works, self._nodes = policy, works, nodes
        self._kinds = [work.kind for work in works]
        self._slots = [slot for node in nodes for slot in node.slots]
        self._present: list[SimulatedSlot] = []
        self._arrivals, self._random, self._recorder = arrival_queue, random, recorder
        self._until = until
        self._events: list[tuple[float, int, int, int, int]] = []
        self._next: list[SimulatedItem] = []
        self._arriving = True
        self._count = 0
        #: Idle slots by loaded kind and node group (``_get_idle_key``).
        self._idle: dict[tuple[int, int], dict[int, SimulatedSlot]] = {}

    def _schedule(self, time: float, event: int, subject: int = 0, life: int = 0) -> None:
        self._count += 1
        heappush(self._events, (time, event, self._count, subject, life))

    def join(self, node: int, time: float) -> None:
        """Let the node join at that time."""
        self._schedule(time, _NODE_JOIN, node)

    def run(self) -> None:
        """Run until all items have passed, or until the end."""
        self._await_arrival()
        if self._policy.every is not None:
            self._schedule(0.0, _ROUND)
        events, handlers = self._events, self._list_handlers()
        while events:
            time, event, _, subject, life = heappop(events)
            if self._until is not None and time > self._until:
                self.now = self._until
                break
            if not self._arriving and self.finished == self.items:
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
        items = self._next
        self.items += len(items)
        self._await_arrival()
        self._enter_items([item for item in items if self._arrivals.admit(item)])

    def _enter_items(self, items: Sequence[SimulatedItem]) -> None:
        kinds = self._kinds
        for item in items:
            remaining_work = 0.0
            for number in reversed(item.stages):
                kinds[number].learn_downstream_seconds(remaining_work)
                remaining_work += kinds[number].mean
            self._queue_item(item)
        for item in items:
            self._wake(item.kind)

    def _queue_item(self, item: SimulatedItem) -> None:
        item.ready = self.now
        self._works[item.kind].enqueue(item)

    def _handle_job_end(self, subject: int, life: int) -> None:
        slot = self._slots[subject]
        if slot.life != life or slot.item is None or slot.loaded_kind is None:
            return
        item, kind, took = slot.item, slot.loaded_kind, self.now - slot.began
        work = self._works[kind]
        slot.item = None
        self._record_work(slot, kind, loading=False)
        work.kind.learn(took)
        work.working.append(took)
        work.waiting.append(slot.began - item.ready)
        item.worked += took
        item.stage += 1
        if item.stage == len(item.stages):
            self._finish_item(item)
        else:
            self._queue_item(item)
            # An idle slot comes before this slot, which would have to load another kind.
            if item.kind != kind:
                self._wake(item.kind)
        self._assign_next_work(slot)

    def _finish_item(self, item: SimulatedItem) -> None:
        turnaround = self.now - item.born
        self.finished += 1
        self.turnaround.append(turnaround)
        self.working.append(item.worked)
        self.waiting.append(turnaround - item.worked)
        opened = self._arrivals.record_finished(item)
        for waiting_item in opened:
            waiting_item.born = self.now
        self._enter_items(opened)

    def _handle_load_end(self, subject: int, life: int) -> None:
        slot = self._slots[subject]
        if slot.life != life or slot.warm_slot.assigned_kind is None:
            return
        kind = slot.loaded_kind = slot.warm_slot.assigned_kind
        self._kinds[kind].loading_slots -= 1
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
        """Give the slot its next work, or make it idle."""
        has_freed = self._release(slot)
        if slot.goes_to is not None:
            kind, slot.goes_to = slot.goes_to, None
            self._load(slot, kind)
        elif not self._ask(slot):
            slot.warm_slot.is_idle = True
            self._idle.setdefault(_get_idle_key(slot), {})[slot.warm_slot.number] = slot
        if has_freed:
            self._wake_beside(slot)

    def _wake_beside(self, slot: SimulatedSlot) -> None:
        """Ask the policy for idle slots of the same node, because the node has free capacity."""
        for neighbour in slot.node.slots:
            if neighbour is not slot and neighbour.warm_slot.is_idle:
                self._ask_idle(neighbour)

    def _ask_idle(self, slot: SimulatedSlot) -> bool:
        idle_key = _get_idle_key(slot)
        if not self._ask(slot):
            return False
        del self._idle[idle_key][slot.warm_slot.number]
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
        warm_slot = slot.warm_slot
        if slot.node.free is None:
            return self._policy.next_kind(self._kinds, warm_slot, self.now)
        suitable_kinds = tuple(
            kind for kind in warm_slot.suitable_kinds if self._has_resources(slot, kind)
        )
        if not suitable_kinds:
            return None
        loaded = warm_slot.assigned_kind if warm_slot.assigned_kind in suitable_kinds else None
        restricted_slot = WarmSlot(warm_slot.number, suitable_kinds, loaded, warm_slot.assigned_at)
        return self._policy.next_kind(self._kinds, restricted_slot, self.now)

    def _ask(self, slot: SimulatedSlot) -> bool:
        """Ask the policy for work for the slot, and return whether there is any."""
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
        """Count the slot as serving the kind from now on."""
        warm_slot = slot.warm_slot
        if warm_slot.assigned_kind is not None:
            self._kinds[warm_slot.assigned_kind].assigned_slots -= 1
            if slot.loaded_kind != warm_slot.assigned_kind:
                self._kinds[warm_slot.assigned_kind].loading_slots -= 1
        self._kinds[kind].assigned_slots += 1
        self._kinds[kind].loading_slots += 1
        warm_slot.assigned_kind, warm_slot.assigned_at = kind, self.now

    def _load(self, slot: SimulatedSlot, kind: int) -> None:
        slot.warm_slot.is_idle = False
        slot.loaded_kind, slot.began = None, self.now
        self._allocate(slot, kind)
        takes = self._kinds[kind].loading / slot.node.speed
        self._schedule(self.now + takes, _LOAD_END, slot.warm_slot.number, slot.life)

    def _begin(self, slot: SimulatedSlot) -> None:
        """Begin the next job of the loaded kind."""
        kind = slot.warm_slot.assigned_kind or 0
        work, node = self._works[kind], slot.node
        item = slot.item = work.dequeue()
        self._allocate(slot, kind)
        slot.warm_slot.is_idle, slot.began = False, self.now
        if self._recorder is not None:
            self._recorder.record_wait(kind, item.ready, self.now)
        takes = item.times[item.stage] / node.speed + node.delay
        if node.jitter:
            takes += node.jitter * (2 * self._random.random() - 1)
        self._schedule(self.now + max(takes, 0.0), _JOB_END, slot.warm_slot.number, slot.life)

    def _wake(self, kind: int) -> None:
        """Let an idle slot take a ready job of the kind.

        One slot of each sort is asked: first slots with the kind loaded, then slots with nothing
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
        warm_slots = [slot.warm_slot for slot in self._present if slot.goes_to is None]
        for move in self._policy.moves(self._kinds, warm_slots, self.now):
            slot = self._slots[move.slot]
            if slot.warm_slot.is_idle:
                self._remove_idle(slot)
                self._send(slot, move.kind)
                self._load(slot, move.kind)
            elif slot.warm_slot.assigned_kind == slot.loaded_kind:
                self._send(slot, move.kind)
                slot.goes_to = move.kind
        # Without further events no round can change anything.
        if self._policy.every is not None and self._events:
            self._schedule(self.now + self._policy.every, _ROUND)

    def _remove_idle(self, slot: SimulatedSlot) -> None:
        idle_key = _get_idle_key(slot)
        del self._idle[idle_key][slot.warm_slot.number]
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
        if node.absence is not None:
            self._schedule(self.now + node.absence(), _NODE_JOIN, subject)

    def _remove_slot(self, slot: SimulatedSlot) -> None:
        if slot.warm_slot.is_idle:
            self._remove_idle(slot)
        loaded = slot.warm_slot.assigned_kind
        if loaded is not None:
            self._kinds[loaded].assigned_slots -= 1
            self._kinds[loaded].loading_slots -= slot.loaded_kind != loaded
        item, slot.item = slot.item, None
        self._release(slot)
        self._present.remove(slot)
        slot.life += 1
        slot.loaded_kind = slot.warm_slot.assigned_kind = slot.goes_to = None
        slot.warm_slot.is_idle = False
        if item is not None:
            self._works[item.kind].lost += 1
            self._works[item.kind].enqueue(item, first=True)
            self._wake(item.kind)


def _get_idle_key(slot: SimulatedSlot) -> tuple[int, int]:
    loaded = slot.warm_slot.assigned_kind
    return (-1 if loaded is None else loaded, slot.node.group)
