"""Results: the record of every txn, what is measured from them, and how both reach a file."""

from endive.results.arrow import to_record_batch
from endive.results.columns import Columns, columns_of
from endive.results.fingerprint import Fingerprint
from endive.results.folder import RunFolder
from endive.results.provenance import MODEL_VERSION, Provenance, package_version
from endive.results.result import RowSink, SimulationResult
from endive.results.schema import N_ROW, ROW_FIELDS, SCHEMA_VERSION, TRANSACTION_SCHEMA
from endive.results.statistics import Counters, Statistics
from endive.results.summary import summarise
from endive.results.window import Window
from endive.results.writer import ResultWriter

__all__ = [
    "MODEL_VERSION",
    "N_ROW",
    "ROW_FIELDS",
    "SCHEMA_VERSION",
    "TRANSACTION_SCHEMA",
    "Columns",
    "Counters",
    "Fingerprint",
    "Provenance",
    "ResultWriter",
    "RowSink",
    "RunFolder",
    "SimulationResult",
    "Statistics",
    "Window",
    "columns_of",
    "package_version",
    "summarise",
    "to_record_batch",
]
