"""The methods that the literature compares with, each behind the same interface."""
