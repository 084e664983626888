"""Errors a user can cause, by kind; the command line turns each into one line and an exit code."""

from __future__ import annotations


class SaddlesynthError(Exception):
    """Base of every error that is the caller's to mend."""

    exit_code = 2


class InputError(SaddlesynthError, ValueError):
    """A parameter or a file is not what it should be."""


class SchemaError(InputError):
    """The schema is wrong, or the table does not fit it; the message names the column."""


class BudgetError(SaddlesynthError, ValueError):
    """More privacy would be spent than was asked for."""

    exit_code = 3


class SolverError(SaddlesynthError):
    """A solver is missing or failed where its answer was required."""

    exit_code = 4


class SizeError(SaddlesynthError, ValueError):
    """The request is too large; the message says how large and what makes it smaller."""

    exit_code = 5


class NotFittedError(SaddlesynthError, ValueError):
    """``fit`` has to come first."""


class DataWarning(UserWarning):
    """The data are not quite what the schema says; the run goes on, by a documented rule."""


class NotPrivateWarning(UserWarning):
    """The release does not have the privacy that its budget seems to say."""
