"""What commands say on standard error while they work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


def say(text: str, quiet: bool = False) -> None:
    """One line for people."""
    if not quiet:
        click.echo(text, err=True)


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, float], None] | None]:
    """A bar with time left, on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    look = "{desc:<24}{bar}{percentage:4.0f}% {remaining} left"
    with tqdm(total=100, bar_format=look, leave=False) as bar:

        def show(step: str, done: float) -> None:
            if step != bar.desc:
                bar.reset(total=100)
                bar.set_description_str(step, refresh=False)
            bar.update(100 * done - bar.n)

        yield show
