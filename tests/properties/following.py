"""An observer of data: every batch of a stream by name, handed from txn to txn in the order things happened."""

from __future__ import annotations

from typing import Any


def follow(rows: list[dict[str, Any]], is_kept: bool, is_again: bool) -> tuple[set[int], set[int], set[int]]:
    """Which batches are visible, which are lost, and which are visible twice; a batch is named after its txn.

    ``is_kept``: what a failed txn carried goes with the next one of its client; ``is_again``: even if it is there.
    """
    pending: dict[int, list[int]] = {}
    taken: dict[int, list[int]] = {}
    seen: list[int] = []
    lost: list[int] = []
    moments = [(row["submit_ms"], 1, row) for row in rows]
    moments += [(row["end_ms"], 0, row) for row in rows if row["end_ms"] is not None]
    for _, is_begin, row in sorted(moments, key=lambda moment: (moment[0], moment[1], moment[2]["txn_id"])):
        txn, client = row["txn_id"], row["client"]
        if is_begin:
            taken[txn] = [*pending.pop(client, []), txn]
        elif row["status"] == "committed":
            seen += taken.pop(txn)
        else:
            carried = taken.pop(txn)
            if row["commits_untold"]:
                seen += carried
                carried = carried if is_again else []
            if is_kept:
                pending.setdefault(client, []).extend(carried)
            else:
                lost += [batch for batch in carried if batch not in seen]
    return set(seen), set(lost), {batch for batch in seen if seen.count(batch) > 1}
