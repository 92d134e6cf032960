"""The report: one page of answers and charts, made from the tables of an analysis.

Reads ``DIR/analysis`` with pyarrow; needs neither Spark nor the simulator.
"""

from endive.report.charts.chart_files import write_figures
from endive.report.page import write_report
from endive.report.report import REPORT, Report, make_report

__all__ = ["REPORT", "Report", "make_report", "write_figures", "write_report"]
