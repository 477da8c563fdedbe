"""`mt-train` trains a model on annotations."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from masstimes.classifier.examples import (
    Example,
    TooFewAnswers,
    draw_random_negatives,
    find_rule_examples,
    read_labelled_examples,
    split,
)
from masstimes.classifier.measures import measure_answers
from masstimes.classifier.torch_needed import require_torch
from sluice.packs.programs import (
    Parser,
    finite,
    not_negative,
    positive,
    run_command,
    write_complete,
)

_PROGRAM = "mt-train"
#: Hours of confession on hand-written sites often have a probability a little above 0.5.
THRESHOLD = 0.6


def _tell(what: str) -> None:
    print(f"{_PROGRAM}: {what}", file=sys.stderr)


def _collect_examples(
    arguments: argparse.Namespace, people: list[Example], test_domains: set[str]
) -> tuple[list[Example], dict[str, int]]:
    """Return the examples to learn from, and their number by origin.

    No example is from a site that is measured on.
    """
    known_ids = {each.id for each in people}
    labelled = [each for each in people if each.domain not in test_domains]
    rules = [
        each
        for each in find_rule_examples(arguments.orders, arguments.candidates, known_ids=known_ids)
        if each.domain not in test_domains
    ]
    yes = sum(each.is_mass for each in [*labelled, *rules])
    negatives = arguments.negatives
    if negatives is None:  # as many as balance the classes
        negatives = max(0, 2 * yes - len(labelled) - len(rules))
    others = [
        each
        for each in draw_random_negatives(
            arguments.others, negatives, known_ids=known_ids, seed=arguments.seed
        )
        if each.domain not in test_domains
    ]
    counts = {"people": len(labelled), "rules": len(rules), "random": len(others)}
    return [*labelled, *rules, *others], counts


def _check(examples: Sequence[Example]) -> None:
    yes = sum(each.is_mass for each in examples)
    if not examples:
        raise TooFewAnswers("there is nothing to learn from: no answer is given")
    if yes in {0, len(examples)}:
        only = "yes" if yes else "no"
        raise TooFewAnswers(
            f"all {len(examples)} answers to learn from are {only}: training needs both (--others"
            " adds negative examples, --orders positive examples)"
        )


def _measure(network: Any, test_examples: Sequence[Example]) -> dict[str, Any]:
    probabilities = network.probabilities(each.marked for each in test_examples)
    measures = measure_answers(
        (probability >= network.threshold, each.is_mass)
        for probability, each in zip(probabilities, test_examples, strict=True)
    )
    return {
        "recall": measures.recall,
        "precision": measures.precision,
        "accuracy": measures.accuracy,
        "f1": measures.f1,
        "threshold": network.threshold,
    }


def _work(arguments: argparse.Namespace) -> None:
    people = read_labelled_examples(arguments.answers, _tell)
    if not people:
        raise TooFewAnswers("there is nothing to learn from: no answer is given")
    _, test_domains = split(people, seed=arguments.seed, part=arguments.test)
    training_examples, counts = _collect_examples(arguments, people, test_domains)
    _check(training_examples)
    test_examples = [each for each in people if each.domain in test_domains]

    require_torch()
    from masstimes.classifier.training import Settings, train  # noqa: PLC0415 - takes seconds

    settings = Settings(seed=arguments.seed, rounds=arguments.rounds, rate=arguments.rate)
    network = train(training_examples, settings, state=arguments.state, tell=_tell)
    network.threshold = arguments.threshold
    measures = _measure(network, test_examples) | {
        "counts": {
            "learned": len(training_examples),
            "learned_yes": sum(each.is_mass for each in training_examples),
            "learned_of": counts,
            "tested": len(test_examples),
            "tested_yes": sum(each.is_mass for each in test_examples),
            "sites_learned": len({each.domain for each in training_examples}),
            "sites_tested": len(test_domains),
        },
        "seed": arguments.seed,
    }
    write_complete(arguments.measures, (json.dumps(measures, indent=1) + "\n").encode())
    write_complete(arguments.out, network.to_bytes())
    _tell(f"recall {measures['recall']}, precision {measures['precision']}")


def _fraction(text: str) -> float:
    value = finite(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-train` and return its exit code."""
    parser = Parser(prog=_PROGRAM, description="Train the model that classifies mass times.")
    add = parser.add_argument
    files: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    many: dict[str, Any] = {**files, "nargs": "*", "default": []}
    add(
        "answers",
        **files,
        nargs="+",
        help="Candidates in JSON Lines with the answer yes or no, as mt-answers writes them",
    )
    add("--out", **files, required=True, help="File to write the model to")
    add(
        "--measures",
        **files,
        required=True,
        help="JSON file for recall, precision, accuracy and F1 of the model",
    )
    add(
        "--orders",
        **many,
        help="Mass schedules that mt-rules wrote, to find masses among --candidates"
        " (default: none)",
    )
    add(
        "--candidates",
        **many,
        help="Candidates without answers; candidates whose page and time are in --orders become"
        " positive examples (default: none)",
    )
    add(
        "--others",
        **many,
        help="Candidates of any pages; a random sample of them become negative examples"
        " (default: none)",
    )
    add(
        "--negatives",
        type=not_negative,
        metavar="N",
        help="Number of negative examples to draw from --others (default: as many as balance the"
        " classes)",
    )
    _add_training_options(add)
    return run_command(parser, _work, argv)


def _add_training_options(add: Any) -> None:
    """Add the options of the training and its measures."""
    add(
        "--test",
        type=_fraction,
        default=0.2,
        metavar="FRACTION",
        help="Fraction of the sites to measure the model on, which it is not trained on"
        " (default: %(default)s)",
    )
    add(
        "--threshold",
        type=_fraction,
        default=THRESHOLD,
        metavar="PROBABILITY",
        help="Minimum probability of a candidate that the model classifies as a mass"
        " (default: %(default)s)",
    )
    add(
        "--seed",
        type=not_negative,
        default=1,
        help="Seed of the training and of all random samples (default: %(default)s)",
    )
    add(
        "--rounds",
        type=positive,
        default=20,
        metavar="N",
        help="Number of training rounds over all examples (default: %(default)s)",
    )
    add(
        "--rate",
        type=_fraction,
        default=0.02,
        help="Initial learning rate, between 0 and 1 (default: %(default)s)",
    )
    add(
        "--state",
        type=Path,
        metavar="FOLDER",
        help="Folder for a checkpoint after each round, from which an interrupted training resumes"
        " (default: no checkpoints)",
    )
