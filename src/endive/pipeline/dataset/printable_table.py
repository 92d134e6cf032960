"""Tables from files, as they may be shown: without the control characters that a terminal obeys.

This file does for a table what ``endive.config.printable`` does for a text.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from endive.config.printable import CONTROL_CHARACTERS, REPLACEMENT


def printable_table(table: pa.Table) -> pa.Table:
    """The same table, with a replacement character in its texts for what a terminal would obey."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            safe = pc.replace_substring_regex(table.column(index), CONTROL_CHARACTERS, REPLACEMENT)
            table = table.set_column(index, field, safe)
    return table
