"""The suite that every synthesizer joins by adding a row to ``ROWS``.

A test that takes ``fast`` runs once for each row; ``fast(**parameters)`` makes the method with the
smallest settings that finish in a moment.  Tables are invented here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from saddlesynth.synthesis.base import Synthesizer
from saddlesynth.synthesis.methods import make


@dataclass(frozen=True)
class Fast:
    """Makes one method, quick and repeatable unless told otherwise.

    ``pairs`` is the mean total variation distance that the method must reach on a strongly coupled
    pair of columns with a large budget; independent columns give 0.69.
    """

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    pairs: float = 0.35
    audits: int = 150  # fits on each of two neighbouring tables; fewer where a fit is slow
    coarse: bool = False  # a few records stand for all, so that rare values may be lost
    errors: str = "standard"  # of a marginal; "bound": in words, "none": nothing is known
    wide: bool = True  # whether tables of many columns are taken, or refused for their size
    needs: str | None = None  # a package that an extra brings

    def __call__(self, **parameters: Any) -> Synthesizer:
        always = {"epsilon": 5.0, "delta": 1e-6, "random_state": 0}
        return make(self.name, **{**always, **self.settings, **parameters})


ROWS = [
    Fast("independent", pairs=0.75),
    Fast("privsyn", {"records": 1000, "sweeps": 20}, pairs=0.15),
    Fast("privbayes", pairs=0.15),
    Fast("projection", {"pool": 1000, "temperature": 1.0}, pairs=0.35, audits=25),
    Fast("fem", {"rounds": 60}, audits=25),
    Fast("dualquery", {"rounds": 30, "samples": 20}, audits=25, errors="none"),
    Fast("dqrs", {"rounds": 30, "samples": 20}, audits=25, errors="none"),
    Fast("mwem", {"rounds": 8}, audits=25),
    Fast("pmw", {"updates": 30}, audits=25),
    Fast(
        "smalldb",
        {"size": 4, "workload": "all:1"},
        pairs=0.9,
        audits=25,
        errors="none",
        wide=False,
        coarse=True,
    ),
    Fast("sepfem", {"rounds": 60}, audits=25, errors="bound"),
    Fast("residual", {"via": "gum", "records": 1000}, pairs=0.15),
    Fast("hdmm", {"via": "gum", "records": 1000}, pairs=0.15),
    Fast("priview", {"records": 1000}, pairs=0.15),
    Fast("histogram", pairs=0.15, wide=False),
    Fast("pgm", {"workload": "all:2"}, pairs=0.15, audits=10, wide=False, needs="mbi"),
    Fast("mst", pairs=0.15, audits=10, needs="mbi"),
    Fast("aim", {"rounds": 16}, pairs=0.15, audits=10, needs="mbi"),
    Fast("mwem-pgm", {"rounds": 3}, audits=10, needs="mbi"),
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fast" in metafunc.fixturenames:
        rows = [pytest.param(row, id=row.name, marks=_skips(row)) for row in ROWS]
        metafunc.parametrize("fast", rows)


def _skips(row: Fast) -> list[pytest.MarkDecorator]:
    """Methods of an extra are skipped where it is not installed."""
    if row.needs is None or find_spec(row.needs) is not None:
        return []
    return [pytest.mark.skip(reason=f"{row.name} needs {row.needs}, which is not installed")]


@pytest.fixture
def rows_of_the_suite() -> list[Fast]:
    return ROWS


@dataclass(frozen=True)
class Case:
    """A table as the text of a CSV file, and its public schema."""

    text: str
    schema: dict[str, Any]

    def write(self, folder: Path, name: str = "table.csv") -> Path:
        path = folder / name
        path.write_text(self.text, encoding="utf-8")
        return path


def csv(header: str, rows: list[str]) -> str:
    return "\n".join([header, *rows]) + "\n"


def categorical(*values: Any, **more: Any) -> dict[str, Any]:
    return {"type": "categorical", "values": list(values), **more}


def columns(**entries: Any) -> dict[str, Any]:
    return {"columns": entries}


def draw(seed: int, rows: int, line: Callable[[random.Random], str]) -> list[str]:
    source = random.Random(seed)
    return [line(source) for _ in range(rows)]


@pytest.fixture
def nullable() -> Case:
    rows = [
        f"{'' if i % 7 == 0 else 1 + i % 4},{'' if i % 10 == 3 else i % 3 == 0},{'NSE'[i % 3]}"
        for i in range(60)
    ]
    schema = columns(
        beds=categorical(1, 2, 3, 4, nullable=True),
        smoker={"type": "boolean", "nullable": True},
        ward=categorical("N", "S", "E"),
    )
    return Case(csv("beds,smoker,ward", rows), schema)


ZIPS = ["00501", "02116", "02139", "10013", "94107"]


@pytest.fixture
def zips() -> Case:
    rows = draw(2, 50, lambda r: f"{r.choice(ZIPS)},{r.choice(['rent', 'own'])}")
    return Case(
        csv("zip,tenure", rows),
        columns(zip=categorical(*ZIPS), tenure=categorical("rent", "own")),
    )


@pytest.fixture
def ids() -> Case:
    rows = [f"REC-{1000 + 37 * i},{'pro' if i % 3 else 'basic'},{'ns'[i % 2]}" for i in range(80)]
    return Case(
        csv("record_id,plan,region", rows),
        columns(
            record_id={"type": "id"},
            plan=categorical("pro", "basic"),
            region=categorical("n", "s"),
        ),
    )


@pytest.fixture
def constant() -> Case:
    rows = draw(4, 40, lambda r: f"XX,{r.choice('ABC')}")
    return Case(
        csv("country,grade", rows),
        columns(country=categorical("XX"), grade=categorical("A", "B", "C")),
    )


@pytest.fixture
def one_row() -> Case:
    return Case(
        csv("sex,band", ["F,30-39"]),
        columns(sex=categorical("F", "M"), band=categorical("0-29", "30-39", "40+")),
    )


@pytest.fixture
def rare() -> Case:
    rows = draw(6, 99, lambda r: f"{r.choice(['clerk', 'driver', 'nurse'])},{r.choice('fp')}")
    rows.insert(40, "lighthouse-keeper,f")
    return Case(
        csv("occupation,status", rows),
        columns(
            occupation=categorical("clerk", "driver", "nurse", "other", other="other"),
            status=categorical("f", "p"),
        ),
    )


@pytest.fixture
def incomes() -> Case:
    rows = draw(7, 70, lambda r: f"{r.uniform(18e3, 92e3):.2f},{r.choice(['pub', 'priv'])}")
    rows.insert(30, "8750000.00,priv")
    income = {"type": "float", "min": 0, "max": 100_000, "bins": 20, "decimals": 2}
    return Case(
        csv("income,sector", rows), columns(income=income, sector=categorical("pub", "priv"))
    )


@pytest.fixture
def unicode() -> Case:
    rows = draw(
        8,
        45,
        lambda r: (
            f"{r.choice(['groß', 'mittel'])},{r.choice(['Zürich', 'São Paulo', '東京'])},"
            f"{r.randint(1, 3)}"
        ),
    )
    schema = {
        "columns": {
            "größe (cm)": categorical("groß", "mittel"),
            "città": categorical("Zürich", "São Paulo", "東京"),
            "😀 score": categorical(1, 2, 3),
        }
    }
    return Case(csv("größe (cm),città,😀 score", rows), schema)


BIG = [9007199254740993, 9007199254740995, 9223372036854775807]


@pytest.fixture
def big() -> Case:
    rows = draw(9, 36, lambda r: f"{r.choice([*BIG, ''])},{r.choice('xy')}")
    return Case(
        csv("code,kind", rows),
        columns(code=categorical(*BIG, nullable=True), kind=categorical("x", "y")),
    )


@pytest.fixture
def dates() -> Case:
    rows = draw(
        11, 60, lambda r: f"2024-{r.randint(1, 12):02}-{r.randint(1, 28):02},{r.choice('ab')}"
    )
    admitted = {
        "type": "datetime",
        "format": "%Y-%m-%d",
        "min": "2024-01-01",
        "max": "2024-12-31",
        "bins": 12,
    }
    return Case(csv("admitted,route", rows), columns(admitted=admitted, route=categorical(*"ab")))


LAB = ["<1", "1", "2", "2.5", "pos"]


@pytest.fixture
def mixed() -> Case:
    rows = draw(12, 48, lambda r: f"{r.choice(LAB)},{r.choice(['s1', 's2'])}")
    return Case(csv("lab,site", rows), columns(lab=categorical(*LAB), site=categorical("s1", "s2")))


@pytest.fixture
def pair() -> Case:
    def line(r: random.Random) -> str:
        left = r.choice("abcd")
        right = left if r.random() < 0.9425 else r.choice("abcd")
        return f"{left},{right},{r.randint(0, 1)}"

    schema = columns(left=categorical(*"abcd"), right=categorical(*"abcd"), noise=categorical(0, 1))
    return Case(csv("left,right,noise", draw(14, 1200, line)), schema)


@pytest.fixture
def children() -> Case:
    def line(r: random.Random) -> str:
        age = r.choice(["child", "adult", "adult"])
        job = "none" if age == "child" else r.choice(["none", "part", "full"])
        return f"{age},{job},{r.choice('ur')}"

    schema = columns(
        agegrp=categorical("child", "adult"),
        job=categorical("none", "part", "full"),
        area=categorical("u", "r"),
    )
    schema["impossible"] = [
        {"agegrp": "child", "job": "part"},
        {"agegrp": "child", "job": "full"},
    ]
    return Case(csv("agegrp,job,area", draw(15, 150, line)), schema)


NEIGHBOURS = [
    ["a,0", "b,1", "b,0", "a,1", "c,0", "b,1"],
    ["c,1", "b,1", "b,0", "a,1", "c,0", "b,1"],
]


@pytest.fixture
def neighbours() -> list[Case]:
    schema = columns(v=categorical("a", "b", "c"), w=categorical(0, 1))
    return [Case(csv("v,w", rows), schema) for rows in NEIGHBOURS]
