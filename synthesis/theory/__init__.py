"""The statistical theory of marginal-based synthesis as a calculator, and simulations beside it.

Bounds on the distance between the raw and the synthetic distribution (``distance``), a bound that
no method can beat (``packing``), and what both mean for a model trained on synthetic rows
(``learning``).  Assumptions and derivations: ``docs/theory.md``.
"""
