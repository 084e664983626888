"""Convex building blocks: simplex projection, budget allocation, selection, transport."""
