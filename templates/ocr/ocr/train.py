"""`ocr-train` trains the small model on generated pages, and writes it in pero-ocr's format."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ocr.alphabet import CHARACTERS
from ocr.model import HEIGHT, LineReader
from ocr.training_lines import Sample, make_training_lines
from sluice.packs.programs import Parser, not_negative, positive, run_command

#: The pixels that pero-ocr adds on both sides of a line.
PADDING = 32
#: The total length in pixels of the lines of a batch, limited as in pero-ocr.
BATCH = 16 * 480
LEARNING_RATE = 4e-3


def _make_batches(samples: list[Sample], random: Random) -> Iterator[list[Sample]]:
    """Yield batches of lines of similar length, in random order."""
    ordered = sorted(samples, key=lambda sample: sample.crop.shape[1] + random.uniform(0, 60))
    batches: list[list[Sample]] = []
    batch: list[Sample] = []
    for sample in ordered:
        if batch and (len(batch) + 1) * sample.crop.shape[1] > BATCH:
            batches.append(batch)
            batch = []
        batch.append(sample)
    batches.append(batch)
    random.shuffle(batches)
    yield from batches


def _make_tensors(batch: list[Sample], random: Random) -> tuple[Tensor, Tensor, Tensor]:
    width = max(sample.crop.shape[1] for sample in batch) + 2 * PADDING
    width = -(-width // 32) * 32
    images = np.zeros((len(batch), HEIGHT, width), np.float32)
    for image, sample in zip(images, batch, strict=True):
        image[:, PADDING : PADDING + sample.crop.shape[1]] = _augment(sample.crop, random)
    labels = [CHARACTERS.index(character) for sample in batch for character in sample.text]
    lengths = [len(sample.text) for sample in batch]
    lines = torch.from_numpy(images).unsqueeze(1).expand(-1, 3, -1, -1)
    return lines, torch.tensor(labels), torch.tensor(lengths)


def _augment(crop: NDArray[np.uint8], random: Random) -> NDArray[np.float32]:
    """Vary brightness, contrast and vertical position at random."""
    line = crop.astype(np.float32) / 255
    line = (line - 0.5) * random.uniform(0.7, 1.15) + 0.5 + random.uniform(-0.12, 0.08)
    return np.clip(np.roll(line, random.choice((-1, 0, 0, 1)), axis=0), 0, 1)


def train(samples: list[Sample], *, seed: int, epochs: int) -> LineReader:
    """Return the model after `epochs` rounds over the lines.

    Training uses one thread, so that sums have a fixed order.
    """
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    random = Random(seed)  # noqa: S311 - of a training
    model = LineReader(len(CHARACTERS))
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=1e-4)
    steps = epochs * (sum(1 for _ in _make_batches(samples, Random(seed))) + 2)  # noqa: S311
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=steps, pct_start=0.15
    )
    ctc_loss = nn.CTCLoss(blank=len(CHARACTERS), zero_infinity=True)
    for epoch in range(1, epochs + 1):
        started, losses = time.monotonic(), []
        for batch in _make_batches(samples, random):
            lines, labels, lengths = _make_tensors(batch, random)
            frames = model(lines).permute(2, 0, 1).log_softmax(2)
            times = torch.full((len(batch),), frames.shape[0])
            loss = ctc_loss(frames, labels, times, lengths)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            if schedule.last_epoch < steps:
                schedule.step()
            losses.append(loss.item())
        elapsed = time.monotonic() - started
        print(f"round {epoch}/{epochs}: loss {np.mean(losses):.3f}, {elapsed:.0f} s", flush=True)
    return model


def save(model: LineReader, folder: Path) -> None:
    """Write `ocr.json` and `ocr.pt`, with the link `ocr.pt.cpu`.

    pero-ocr looks for `ocr.pt.cpu` where there is no GPU.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        scripted = torch.jit.script(model.eval())
    torch.jit.save(scripted, folder / "ocr.pt")
    on_cpu = folder / "ocr.pt.cpu"
    on_cpu.unlink(missing_ok=True)
    on_cpu.symlink_to("ocr.pt")
    description = {
        "line_px_height": HEIGHT,
        "line_vertical_scale": 1.25,
        "checkpoint": "ocr.pt",
        "characters": list(CHARACTERS),
        "net_name": "sluice-scans",
    }
    text = json.dumps(description, ensure_ascii=False) + "\n"
    (folder / "ocr.json").write_text(text, encoding="utf-8")


def _work(arguments: argparse.Namespace) -> None:
    started = time.monotonic()
    samples = make_training_lines(arguments.config, arguments.seed, arguments.pages)
    print(f"{len(samples)} lines of {arguments.pages} pages, {time.monotonic() - started:.0f} s")
    save(train(samples, seed=arguments.seed, epochs=arguments.rounds), arguments.out)
    size = (arguments.out / "ocr.pt").stat().st_size
    print(f"{arguments.out / 'ocr.pt'}: {size} bytes, {time.monotonic() - started:.0f} s in all")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-train` and return its exit code."""
    parser = Parser(prog="ocr-train", description="Train the small model on generated pages.")
    add = parser.add_argument
    add(
        "--config",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder with the configurations layout/ and ocr/",
    )
    add("--out", type=Path, required=True, metavar="FOLDER", help="Folder to write the model to")
    add(
        "--seed",
        type=not_negative,
        default=1,
        help="Seed of the generated pages and of the training (default: %(default)s)",
    )
    add(
        "--pages",
        type=positive,
        default=200,
        metavar="N",
        help="Number of pages to generate (default: %(default)s)",
    )
    add(
        "--rounds",
        type=positive,
        default=14,
        metavar="N",
        help="Number of training rounds over all lines (default: %(default)s)",
    )
    return run_command(parser, _work, argv)
