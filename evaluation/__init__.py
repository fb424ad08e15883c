"""Measures on problems with known answers, their stability and cost: ``python -m evaluation``."""
