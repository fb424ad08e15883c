"""The reproduction of Sutera et al. (NeurIPS 2021): ``python -m paper``."""
