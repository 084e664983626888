"""One column between table and model: cells to integer codes, and codes to cells again."""

from saddlesynth.synthesis.columns.base import ColumnCodec, Encoded
from saddlesynth.synthesis.columns.make import column_codec

__all__ = ["ColumnCodec", "Encoded", "column_codec"]
