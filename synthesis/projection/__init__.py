"""Projection of noisy marginals onto the marginal polytope."""
