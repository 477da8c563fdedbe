"""The commands of the benchmarks."""

import re

from bench.commands import app, everything


def test_help_of_all_names_each_benchmark_that_it_leaves_out() -> None:
    functions = {
        command.name: getattr(command.callback, "__name__", "")
        for command in app.registered_commands
    }
    del functions["all"]
    omitted = {
        name for name, function in functions.items() if function not in everything.__code__.co_names
    }
    assert set(re.findall(r"`([a-z-]+)`", everything.__doc__ or "")) == omitted
