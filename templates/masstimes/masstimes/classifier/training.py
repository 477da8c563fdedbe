"""Training in rounds over the examples, with a learning rate that falls linearly to zero.

Importing this module imports torch.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from masstimes.classifier.examples import Example
from masstimes.classifier.features import context_features
from masstimes.classifier.network import VERSION, Network, read_weights
from sluice.packs.programs import write_complete

#: The file in the folder of the state.
STATE = "training.pt"


@dataclass(frozen=True, slots=True)
class Settings:
    """Training parameters.

    ``rate`` is the first learning rate. Words that occur in at least ``least`` examples have a
    vector. ``batch`` is the number of examples in a step. ``drop`` is the share of the words of a
    context that each round leaves out, so that no word decides alone.
    """

    seed: int = 1
    rounds: int = 20
    rate: float = 0.02
    dimensions: int = 16
    buckets: int = 1 << 15
    least: int = 2
    batch: int = 32
    drop: float = 0.5


def train(
    examples: Sequence[Example],
    settings: Settings,
    *,
    state: Path | None,
    tell: Callable[[str], None],
) -> Network:
    """Return the trained network, equal for equal examples and settings on the same machine.

    ``state`` is a folder where each round is kept. An interrupted training of the same examples and
    settings resumes from there.
    """
    torch.set_num_threads(1)  # sums have a fixed order
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(settings.seed)
    network = Network.new(
        _vocabulary(examples, settings.least), settings.buckets, settings.dimensions
    )
    weights = [*network.embedding.parameters(), *network.output.parameters()]
    optimizer = torch.optim.Adam(weights, settings.rate)
    checkpoint = _Checkpoint(state, examples, settings) if state else None
    done = checkpoint.restore(network, optimizer) if checkpoint else 0
    if done:
        tell(f"continues after round {done} of {settings.rounds}")
    rows = [network.rows(each.marked) for each in examples]
    answers = torch.tensor([int(each.is_mass) for each in examples])
    for number in range(done, settings.rounds):
        loss = _train_round(network, optimizer, (rows, answers), settings, number=number)
        if checkpoint:
            checkpoint.write(network, optimizer, number + 1)
        tell(f"round {number + 1} of {settings.rounds}: loss {loss:.4f}")
    return network


def _vocabulary(examples: Sequence[Example], min_count: int) -> list[str]:
    counts = Counter(word for each in examples for word in set(context_features(each.marked)))
    return sorted(word for word, number in counts.items() if number >= min_count)


def _train_round(
    network: Network,
    optimizer: Any,
    data: tuple[list[list[int]], Any],
    settings: Settings,
    *,
    number: int,
) -> float:
    """Train on all examples once, and return the mean loss.

    The seed and the number of the round determine the order.
    """
    rows, answers = data
    generator = torch.Generator().manual_seed(settings.seed * 1_000_003 + number)
    parts = torch.randperm(len(rows), generator=generator).split(settings.batch)
    total = 0.0
    for step, part in enumerate(parts, number * len(parts)):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * (1 - step / (settings.rounds * len(parts)))
        scores = network.scores([rows[each] for each in part.tolist()], (settings.drop, generator))
        loss = cross_entropy(scores, answers[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(part)
    return total / len(rows)


class _Checkpoint:
    """The checkpoint of a training, written after each round."""

    def __init__(self, folder: Path, examples: Sequence[Example], settings: Settings) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / STATE
        inputs = json.dumps([VERSION, asdict(settings), [asdict(each) for each in examples]])
        self._digest = hashlib.sha256(inputs.encode()).hexdigest()

    def restore(self, network: Network, optimizer: Any) -> int:
        """Return the number of completed rounds, 0 without a checkpoint of the same training."""
        content = read_weights(self._path) if self._path.is_file() else None
        if content is None or content.get("what") != self._digest:
            return 0
        network.load_state(content)
        optimizer.load_state_dict(content["optimizer"])
        return int(content["rounds"])

    def write(self, network: Network, optimizer: Any, rounds: int) -> None:
        """Write the checkpoint."""
        file = io.BytesIO()
        content = {"what": self._digest, "rounds": rounds, "optimizer": optimizer.state_dict()}
        torch.save({**content, **network.state()}, file)
        write_complete(self._path, file.getvalue())
