"""Where private records live and are counted: in this process, or on a cluster."""

from saddlesynth.synthesis.engines.local import LocalRecords

__all__ = ["LocalRecords"]
