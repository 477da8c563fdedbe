"""The network and its file format. Importing this module imports torch."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from masstimes.classifier.features import (
    MarkedContext,
    context_features,
    find_surroundings,
    hash_pairs,
)
from sluice.packs.programs import BadData, read_input, reason_in

#: The kind of the file, and the version of its format and of the features.
_KIND, VERSION = "sluice-masstimes-hours", 2
#: The number of contexts in a batch of probabilities.
_BATCH = 512

#: The share of vectors to leave out, and the generator that chooses them.
Drop = tuple[float, torch.Generator]


@dataclass(slots=True)
class Network:
    """The network.

    ``vocabulary`` are the words with their own vectors. ``buckets`` is the number of vectors that
    pairs of words share. A candidate is a mass from the probability ``threshold`` on.
    """

    vocabulary: dict[str, int]
    buckets: int
    embedding: Any
    output: Any
    threshold: float = 0.5

    @classmethod
    def new(cls, vocabulary: Sequence[str], buckets: int, dimensions: int) -> Network:
        """Return a network with random weights from torch's seed."""
        size = len(vocabulary) + buckets
        embedding = nn.EmbeddingBag(size, dimensions, mode="mean")
        nn.init.uniform_(embedding.weight, -1 / dimensions, 1 / dimensions)
        output = nn.Linear(dimensions, 2)
        nn.init.zeros_(output.weight)
        nn.init.zeros_(output.bias)
        numbers = {word: number for number, word in enumerate(vocabulary)}
        return cls(numbers, buckets, embedding, output)

    def rows(self, marked_context: MarkedContext) -> list[int]:
        """Return the indices of the vectors of a context. Unknown words have none."""
        vocabulary, around = self.vocabulary, find_surroundings(*marked_context)
        rows = [vocabulary[word] for word in context_features(marked_context) if word in vocabulary]
        return rows + [len(vocabulary) + pair for pair in hash_pairs(around, buckets=self.buckets)]

    def scores(self, rows: Sequence[Sequence[int]], drop: Drop | None = None) -> Tensor:
        """Return the scores for no mass and for a mass.

        ``drop`` leaves out a random part of the vectors.
        """
        indices = torch.tensor([row for each in rows for row in each], dtype=torch.long)
        starts = torch.tensor([0, *(len(each) for each in rows[:-1])]).cumsum(0)
        if drop is not None:
            share, generator = drop
            is_kept = torch.rand(len(indices), generator=generator) >= share
            starts = torch.cat([torch.zeros(1, dtype=torch.long), is_kept.cumsum(0)])[starts]
            indices = indices[is_kept]
        return self.output(self.embedding(indices, starts))

    def probabilities(self, contexts: Iterable[MarkedContext]) -> list[float]:
        """Return the probabilities of a mass, rounded to six places."""
        result: list[float] = []
        iterator = iter(contexts)
        with torch.no_grad():
            while batch := list(islice(iterator, _BATCH)):
                scores = self.scores([self.rows(each) for each in batch])
                result += [round(value, 6) for value in scores.softmax(1)[:, 1].tolist()]
        return result

    def state(self) -> dict[str, Any]:
        """Return all weights."""
        return {"embedding": self.embedding.state_dict(), "output": self.output.state_dict()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Load all weights."""
        self.embedding.load_state_dict(state["embedding"])
        self.output.load_state_dict(state["output"])

    def to_bytes(self) -> bytes:
        """Return the content of the file. Equal networks have equal bytes."""
        header = {
            "kind": _KIND,
            "version": VERSION,
            "words": len(self.vocabulary),
            "buckets": self.buckets,
            "dimensions": self.embedding.embedding_dim,
            "threshold": self.threshold,
            "vocabulary": list(self.vocabulary),
        }
        file = io.BytesIO()
        torch.save({**header, **self.state()}, file)
        return file.getvalue()


def load(path: Path) -> Network:
    """Load a network, without running code from the file.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: The file is no model of this version.
    """
    content = read_weights(path)
    if content is None or content.get("kind") != _KIND:
        raise BadData(path, "this is not a model of mt-train")
    if content.get("version") != VERSION:
        raise BadData(
            path,
            f"this is a model of version {content.get('version')}, and version {VERSION} is read: "
            "train it again",
        )
    try:
        vocabulary = [str(word) for word in content["vocabulary"]]
        if len(vocabulary) != content["words"]:
            raise ValueError("its number of words is wrong")
        network = Network.new(vocabulary, content["buckets"], content["dimensions"])
        network.load_state(content)
        network.threshold = float(content["threshold"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise BadData(path, f"this model is damaged ({reason_in(error)})") from error
    return network


def read_weights(path: Path) -> dict[str, Any] | None:
    """Return the content of a file of torch, or None if it is no such file."""
    data = read_input(path)
    try:
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception:  # the file may be anything, and torch has no class of errors for that
        return None
    return content if isinstance(content, dict) else None
