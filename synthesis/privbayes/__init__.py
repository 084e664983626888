"""PrivBayes: a Bayesian network chosen and measured under differential privacy."""
