"""One self-contained HTML page of an evaluation."""

from saddlesynth.synthesis.report.page import check_report_destination, render, write_report

__all__ = ["check_report_destination", "render", "write_report"]
