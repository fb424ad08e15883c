"""The command line: a table and a question go in, bits of uncertainty come out."""

from localmdi.cli.app import main, program

__all__ = ["main", "program"]
