"""Compare a synthetic table with the real one.  Uses real data: NOT differentially private."""

from saddlesynth.synthesis.evaluate.result import Evaluation
from saddlesynth.synthesis.evaluate.run import evaluate

__all__ = ["Evaluation", "evaluate"]
