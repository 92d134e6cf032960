"""Results: the record of every txn, what is measured from them, and how both reach a file.

What is named here is imported when it is first used: whoever only writes a file needs no compiled code.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from endive.results.arrow import to_record_batch
    from endive.results.columns import Columns, columns_of
    from endive.results.fingerprint import Fingerprint
    from endive.results.folder import RunFolder
    from endive.results.provenance import MODEL_VERSION, Provenance, package_version
    from endive.results.result import RowSink, SimulationResult
    from endive.results.schema import SCHEMA_VERSION, TRANSACTION_SCHEMA
    from endive.results.statistics import Statistics
    from endive.results.summary import summarise
    from endive.results.window import Window
    from endive.results.writer import ResultWriter

__all__ = [
    "MODEL_VERSION",
    "SCHEMA_VERSION",
    "TRANSACTION_SCHEMA",
    "Columns",
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

_HOMES = {
    "to_record_batch": "endive.results.arrow",
    "Columns": "endive.results.columns",
    "columns_of": "endive.results.columns",
    "Fingerprint": "endive.results.fingerprint",
    "RunFolder": "endive.results.folder",
    "MODEL_VERSION": "endive.results.provenance",
    "Provenance": "endive.results.provenance",
    "package_version": "endive.results.provenance",
    "RowSink": "endive.results.result",
    "SimulationResult": "endive.results.result",
    "SCHEMA_VERSION": "endive.results.schema",
    "TRANSACTION_SCHEMA": "endive.results.schema",
    "Statistics": "endive.results.statistics",
    "summarise": "endive.results.summary",
    "Window": "endive.results.window",
    "ResultWriter": "endive.results.writer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'endive.results' has no attribute '{name}'")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value
