"""Optimisation only: domains, queries, best-response oracles and the convex parts."""
