"""Everything that comes from elsewhere is read here: with a limit on its size, its depth, its kind and its time.

Whoever reads a file, an answer or a table of somebody else's says how much it may hold; what it means is decided
there. All of it raises ``IntakeError``, which ``refused_as`` turns into the error of the caller's own.
"""

from endive.intake.avro import plain_avro
from endive.intake.deadline import within
from endive.intake.http_answer import fetch, refuse_other_host
from endive.intake.json_text import NESTING_MAX, is_count, is_deeper_than, parse_json, read_json, refuse_json_size
from endive.intake.regular_file import expand_gzip, is_gzip, open_regular, read_bytes, read_lines, refused_as

__all__ = [
    "NESTING_MAX",
    "expand_gzip",
    "fetch",
    "is_count",
    "is_deeper_than",
    "is_gzip",
    "open_regular",
    "parse_json",
    "plain_avro",
    "read_bytes",
    "read_json",
    "read_lines",
    "refuse_json_size",
    "refuse_other_host",
    "refused_as",
    "within",
]
