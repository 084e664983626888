"""PrivSyn: noisy marginals of well chosen pairs, and records updated until they have them.

One step, one file, in the order of ``method.py``: ``merge`` (rare values), ``select`` (pairs),
``combine`` (larger marginals), ``consistency`` with ``agreement`` and ``nonnegativity``; then
``build``: ``initialise``, ``append`` (easy attributes), ``gum`` (the updates; ``flow`` is their
alternative).
"""
