"""PrivSyn: noisy marginals of well chosen pairs, and records updated until they have them.

One step, one file, in the order of ``method.py``: ``measure`` asks the curator, with ``merge``
(rare values), ``select`` (pairs) and ``combine`` (larger marginals); then ``consistency``, with
``agreement`` and ``nonnegativity``; then ``build``, with ``initialise``, ``append`` (easy
attributes) and ``gum`` (the updates; ``flow`` is their alternative).
"""
