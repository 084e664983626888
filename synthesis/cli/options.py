"""Options that commands share, and how they become a method."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import METHODS, method, unknown
from saddlesynth.synthesis.text_files import read_text

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT_METHOD = "projection"

COUNT = click.IntRange(min=1)
SEED_RANGE = click.IntRange(min=0)
RELEASE = click.argument("release", type=click.Path(path_type=Path), metavar="REL")
QUIET = click.option("--quiet", is_flag=True, help="Say nothing but errors.")
JSON = click.option("--json", "as_json", is_flag=True, help="Answer in JSON on standard output.")
FORCE = click.option("--force", is_flag=True, help="Overwrite what is there.")
SEED = click.option(
    "--seed",
    type=SEED_RANGE,
    help="Repeatable randomness, for tests and teaching: stamps the release as not private "
    "against whoever knows the seed.",
)
ROWS = click.option(
    "--rows", type=COUNT, help="Rows to make [default: about as many as were read]."
)
FORMAT = click.option(
    "--format", type=click.Choice(["csv", "parquet"]), help="[default: by file name, or as input]"
)


def _read_config(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Take defaults for the other options from a file with the same keys."""
    if path is None:
        return
    names = {o.name for o in ctx.command.params} | {"set"}
    found = {str(k).replace("-", "_"): v for k, v in _config_mapping(path).items()}
    found = {{"set": "settings", "json": "as_json"}.get(k, k): v for k, v in found.items()}
    for key in found:
        if key not in names:
            known = sorted(str(n).replace("_", "-") for n in names)
            raise InputError(unknown("option", key, known, f"config {path} has an unknown"))
    settings = found.get("settings")
    if isinstance(settings, Mapping):
        found["settings"] = [f"{name}={json.dumps(value)}" for name, value in settings.items()]
    ctx.default_map = {**(ctx.default_map or {}), **found}


def _config_mapping(path: Path) -> dict[str, Any]:
    text = read_text(path, f"config {path}", "a JSON, YAML or TOML file")
    try:
        if path.suffix == ".toml":
            import tomllib

            found: Any = tomllib.loads(text)
        else:
            import yaml

            found = yaml.safe_load(text)  # JSON is YAML
    except ValueError as error:
        raise InputError(f"config {path} cannot be read ({error})") from error
    except Exception as error:
        if type(error).__module__.startswith("yaml"):
            raise InputError(f"config {path} is not YAML or JSON ({error})") from error
        raise
    if not isinstance(found, dict):
        raise InputError(f"config {path} must hold option names with values")
    return found


_METHOD_OPTIONS = [
    click.option("--epsilon", type=float, default=1.0, show_default=True, help="Privacy budget."),
    click.option("--delta", type=float, default=1e-9, show_default=True),
    click.option(
        "--method",
        default=DEFAULT_METHOD,
        show_default=True,
        help=f"One of: {', '.join(METHODS)}; see 'saddlesynth methods'.",
    ),
    click.option(
        "--schema",
        type=click.Path(path_type=Path),
        help="Public meaning of the columns (JSON or YAML) [default: found privately, charged].",
    ),
    click.option(
        "--relation",
        default="add_remove",
        show_default=True,
        help="add_remove (number of rows private) or replace_one (number of rows public).",
    ),
    click.option("--unit", help="Column that identifies whom to protect [default: each row]."),
    click.option("--max-rows-per-unit", type=COUNT, default=1, show_default=True),
    click.option(
        "--workload", help="Queries, for games: all:K, random:COUNT:K:SEED, or a JSON file."
    ),
    click.option("--solver", help="Solver, for methods that use one."),
    click.option("--time-limit", type=float, help="Seconds a solve, for methods with a solver."),
    click.option("--engine", default="local", show_default=True, help="Where rows are counted."),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the method; may be repeated.",
    ),
    click.option(
        "--config",
        type=click.Path(path_type=Path),
        is_eager=True,
        expose_value=False,
        callback=_read_config,
        help="File (JSON, YAML, TOML) with the same keys as these options.",
    ),
    click.option("--yes", is_flag=True, help="Go on however many queries the plan counts."),
]


def method_options(command: Command) -> Command:
    """All options that describe a method."""
    for option in reversed(_METHOD_OPTIONS):
        command = option(command)
    return command


def method_from(options: dict[str, Any], progress: Callable[[str, float], None] | None) -> Any:
    """The method that the options describe, its parameters checked; unknown ones are refused."""
    klass = method(options["method"])
    known = klass.parameter_names()
    parameters: dict[str, Any] = {
        name: options[name]
        for name in (
            "epsilon",
            "delta",
            "schema",
            "relation",
            "unit",
            "max_rows_per_unit",
            "engine",
        )  # fmt: skip
    }
    parameters.update(random_state=options.get("seed"), progress=progress)
    if options["yes"]:
        parameters["max_queries"] = None
    for name, lacks in (
        ("workload", "it is not about chosen queries"),
        ("solver", "it uses no solver"),
        ("time_limit", "it uses no solver"),
    ):
        if options.get(name) is not None:
            if name not in known:
                long = name.replace("_", "-")
                raise InputError(f"method {klass.name!r} has no --{long}: {lacks}")
            parameters[name] = options[name]
    parameters.update(_settings(options["settings"], known, klass.name))
    made = klass(**parameters)
    made.check_parameters()
    return made


def _settings(settings: tuple[str, ...], known: list[str], method_name: str) -> dict[str, Any]:
    """Parameters given as NAME=VALUE."""
    result = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise InputError(f"--set {setting!r} is not of the form NAME=VALUE")
        if name not in known:
            raise InputError(unknown("parameter", name, known, f"method {method_name!r} has no"))
        result[name] = _value(text.strip())
    return result


def _value(text: str) -> Any:
    """A Python or JSON literal; anything else is text.

    >>> _value("3"), _value("[1, 2]"), _value("true"), _value("cp-sat")
    (3, [1, 2], True, 'cp-sat')
    """
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError):
            continue
    return text
