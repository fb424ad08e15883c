"""One HTML file that shows a result to people who do not program."""

from localmdi.report.write import write_report

__all__ = ["write_report"]
