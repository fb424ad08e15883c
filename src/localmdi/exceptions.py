"""The errors of localmdi. Each message says what must hold, what was given, and what to do."""

from __future__ import annotations

__all__ = [
    "FileFormatError",
    "InvalidForestError",
    "LocalMDIError",
    "MissingStatisticsError",
    "TableError",
    "UnsupportedModelError",
]


class LocalMDIError(Exception):
    """Base class of every error that localmdi defines."""


class UnsupportedModelError(LocalMDIError, TypeError):
    """A model cannot be explained; the message says why and what is supported."""


class InvalidForestError(LocalMDIError, ValueError):
    """The arrays given do not form a forest; the message names the field and the node."""


class MissingStatisticsError(LocalMDIError, ValueError):
    """A forest lacks the node statistics (impurity, weight, value) that a measure needs."""


class FileFormatError(LocalMDIError, ValueError):
    """A file is damaged, truncated, of another kind, or of a newer version."""


class TableError(LocalMDIError, ValueError):
    """A table cannot be read or learned as it was asked for; names the parameter that says so."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(f"{parameter}: {message}")
        self.parameter = parameter
        self.message = message
