"""Throughput ceilings in closed form, and a saturated simulator held to them from above and from below.

Every request takes exactly L, half of it before the server evaluates. Under catalog scope any commit inside
the hazard window of an attempt makes it fail, so the windows of committed attempts cannot overlap: with
windows no shorter than W, at most 1/W commits per second. In units of L, an attempt whose base the server
evaluated at time 0 is evaluated itself at ::

    W = 1/2 (the base travels back) + build + 1/2 (the swap travels there) = 1 + build

where ``build`` counts the requests in between, one after another. A retried fast append builds with

==========  ==========================================================================================
protocol    requests between base and swap
==========  ==========================================================================================
iceberg     [metadata read], list read, list written, [metadata written]
pyiceberg   [metadata read], own manifest and a HEAD for its length (meanwhile: list read), list written,
            a look whether the base still holds, [metadata read again, HEAD, metadata written]
spec        [metadata read], list read, list written
merge       nothing: the repair comes before the base is read (in the other order, after_refresh: [metadata read],
            a batch of at most four lists of history, list read, list written)
==========  ==========================================================================================

where [...] falls away if metadata is inlined. ML+ writes no list: the entry appended by the first attempt
stands; under merge the list is not read either. First attempts are no faster: iceberg and pyiceberg have
their own manifest to write, in spec and merge the runtime lies in the window, and it is long here.

From below: a commit is followed by the next as soon as somebody reads after it, so with enough clients whose
reads are spread evenly the rate comes as near to 1/W as one likes. Refused attempts of iceberg and pyiceberg
must be spread by a random pause, or they circle together with a period of W + 1, the fresh read included. In
spec, and in merge if it reads first, the refusal itself carries the new base: there a pause would lengthen the window.
"""

from __future__ import annotations

from typing import Any

import pytest

from endive import simulate

pytestmark = pytest.mark.lengthy

L_MS = 200.0
DURATION_MS = 3_600_000.0  # an hour, 18,000 L
ABOVE, BELOW = 1.03, 0.97
CLIENTS = 300
PAUSE = 10.0  # in L: refused attempts wait anything up to it
LONG_RUNTIME = 20.0  # in L: no first attempt of spec or merge survives it in a saturated system

# Requests between base and swap, in units of L.
PLAIN = {"iceberg": 4, "pyiceberg": 8, "spec": 3, "merge, read first": 4}
INLINED = {"iceberg": 2, "pyiceberg": 4, "spec": 2, "merge, read first": 3}
APPENDED = {"iceberg": 3, "pyiceberg": 7, "spec": 2, "merge, read first": 2}
APPENDED_INLINED = {"iceberg": 1, "pyiceberg": 3, "spec": 1, "merge, read first": 1}
COMMITS = {"merge, read first": {"protocol": "merge", "repair": "after_refresh"}}
BUILDS = {
    ("rewrite", False): PLAIN,
    ("rewrite", True): INLINED,
    ("append", False): APPENDED,
    ("append", True): APPENDED_INLINED,
}


class Saturated:
    """A run of closed-loop clients that never give up, and its rates per L."""

    def __init__(
        self,
        protocol: str,
        *,
        catalog: dict[str, Any],
        clients: int = CLIENTS,
        duration_ms: float = DURATION_MS,
        engine: str = "auto",
        **transaction: Any,
    ) -> None:
        think = {"distribution": "exponential", "mean_ms": L_MS}
        config = {
            "simulation": {"duration_ms": duration_ms, "warmup_ms": 0.0, "cooldown_ms": 0.0},
            "storage": {"provider": "constant", "latency_ms": L_MS},
            "catalog": catalog,
            "commit": COMMITS.get(protocol, {"protocol": protocol}),
            "transaction": {
                "runtime": {"distribution": "fixed", "ms": 0.0},
                "retry": 1_000_000,
                "retry_backoff": {"enabled": False},
                "total_timeout_ms": 0.0,
                **transaction,
            },
            "source": [{"name": "clients", "arrivals": {"kind": "closed", "clients": clients, "think_ms": think}}],
        }
        self.duration_ms = duration_ms
        entries = ("append_physical_success", "manifest_append_physical_failure")
        table = simulate(config, seed=1, engine=engine).transactions
        self.rows = table.select(("status", "attempts", "hazard_window_ms", *entries)).to_pylist()
        self.committed = [row for row in self.rows if row["status"] == "committed"]

    @property
    def commits_per_l(self) -> float:
        return len(self.committed) * L_MS / self.duration_ms

    @property
    def hazard_share(self) -> float:
        """Share of the time covered by the hazard windows of committed attempts."""
        return sum(row["hazard_window_ms"] for row in self.committed) / self.duration_ms

    @property
    def shortest_window(self) -> float:
        return min(row["hazard_window_ms"] for row in self.committed) / L_MS

    def assert_holds(self, window: float, below: float = BELOW) -> None:
        ceiling = 1.0 / window
        assert self.hazard_share <= 1.0, "windows of committed attempts overlap"
        assert self.shortest_window >= window
        assert below * ceiling <= self.commits_per_l <= ABOVE * ceiling


def instant(**changes: Any) -> dict[str, Any]:
    return {"type": "instant", "latency_ms": L_MS, "scope": "catalog", **changes}


def terms_of(protocol: str) -> dict[str, Any]:
    """What keeps first attempts from winning and losers from circling together; see above."""
    pause_ms = PAUSE * L_MS
    pause = {"policy": "full_jitter", "base_ms": pause_ms, "multiplier": 1.0, "max_ms": pause_ms}
    work = {"distribution": "fixed", "ms": LONG_RUNTIME * L_MS}
    if protocol in ("spec", "merge, read first"):
        return {"runtime": work}
    return {"retry_backoff": pause, "runtime": work} if protocol == "merge" else {"retry_backoff": pause}


@pytest.mark.parametrize(("mode", "is_inlined"), BUILDS, ids=["plain", "inlined", "ML+", "ML+ inlined"])
@pytest.mark.parametrize("protocol", PLAIN)
def test_saturated_clients_reach_the_ceiling_of_their_protocol_and_never_pass_it(protocol, mode, is_inlined):
    catalog = instant(table_metadata_inlined=is_inlined)
    saturated = Saturated(protocol, catalog=catalog, manifest_list_mode=mode, **terms_of(protocol))

    saturated.assert_holds(1 + BUILDS[mode, is_inlined][protocol])


@pytest.mark.parametrize(("mode", "is_inlined"), [("rewrite", True), ("append", False)], ids=["inlined", "ML+"])
def test_who_reads_the_base_last_waits_for_a_round_trip_and_for_the_next_to_read(mode, is_inlined):
    """The repair of merge lies outside the window, W = 1, and its cycle is many times as long.

    So the table rests after a commit until the first of the clients reads, 1/lambda if lambda attempts per L are spread
    evenly: 1 / (1 + 1/lambda) commits per L, which nears 1/W only as lambda grows.
    """
    saturated = Saturated(
        "merge",
        catalog=instant(table_metadata_inlined=is_inlined),
        clients=100,
        duration_ms=1_200_000.0,
        manifest_list_mode=mode,
        **terms_of("merge"),
    )
    attempts_per_l = sum(row["attempts"] for row in saturated.committed) * L_MS / saturated.duration_ms

    saturated.assert_holds(1, below=0.85)
    assert BELOW <= saturated.commits_per_l * (1.0 + 1.0 / attempts_per_l) <= ABOVE


@pytest.mark.parametrize("protocol", ["iceberg", "pyiceberg", "spec", "merge, read first"])
def test_a_dozen_clients_on_the_reference_engine_come_near_the_ceiling(protocol):
    catalog = instant(table_metadata_inlined=True)
    terms = terms_of(protocol) | {"retry_backoff": {"enabled": False}}
    saturated = Saturated(protocol, catalog=catalog, clients=18, duration_ms=300_000.0, engine="reference", **terms)

    saturated.assert_holds(1 + INLINED[protocol], below=0.70)


@pytest.mark.parametrize("protocol", ["spec", "merge"])
def test_txns_that_swap_first_and_do_no_work_have_a_window_of_one_round_trip(protocol):
    """Without retries every attempt is a first one: read, swap, W = 1."""
    saturated = Saturated(protocol, catalog=instant(), clients=100, duration_ms=600_000.0, retry=0)

    saturated.assert_holds(1)


def test_tentative_entries_of_losers_keep_ml_plus_below_its_ceiling():
    """First attempts only: read, append to the list, swap: W = 2, were the offset still right.

    But losers append too. Every entry moves the end of the list, a stale append is refused and costs one L more,
    inside the window. So the commits fill the time with their windows, which are longer than the shortest.
    """
    saturated = Saturated("spec", catalog=instant(), clients=12, manifest_list_mode="append", retry=0)

    mean_window = sum(row["hazard_window_ms"] for row in saturated.committed) / L_MS / len(saturated.committed)
    refused = sum(row["manifest_append_physical_failure"] for row in saturated.committed)
    assert 2.0 == saturated.shortest_window
    assert 2 * len(saturated.committed) + refused == pytest.approx(mean_window * len(saturated.committed))
    assert saturated.commits_per_l <= ABOVE / 2
    assert 0.60 <= saturated.hazard_share <= 1.0


# ---- other catalogs ----------------------------------------------------------------------------------

CATALOGS = {
    # one object, swapped: as the instant catalog, but a refusal tells nothing
    "cas": ({"type": "cas", "table_metadata_inlined": False}, 1 + 4),
    # JDBC, Hive: the pointer is read once more before it is swapped
    "pointer": ({"type": "service", "latency_ms": L_MS}, 1 + 4 + 1),
    # REST: no metadata read; the server writes the object between check and swap
    "rest": ({"type": "service", "latency_ms": L_MS, "service": {"flavour": "rest"}}, 1 + 2 + 1),
    # a server that rebases appends: from its last look to its decision it only writes the metadata object
    "rebasing": (
        {"type": "service", "latency_ms": L_MS, "service": {"flavour": "rest", "server_retries": 100}},
        1,
    ),
}


@pytest.mark.parametrize("name", CATALOGS)
def test_every_catalog_has_its_ceiling(name):
    catalog, window = CATALOGS[name]

    Saturated("iceberg", catalog=catalog, **terms_of("iceberg")).assert_holds(window)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_with_few_workers_commits_no_faster_than_they_work(workers):
    """Two requests per txn, each L of one worker's time, on tables of their own: workers / 2 commits per L."""
    service = {"flavour": "rest", "workers": workers, "time": {"distribution": "fixed", "ms": L_MS}}
    catalog = {"type": "service", "latency_ms": 1.0, "num_tables": 1_000, "service": service}
    saturated = Saturated("spec", catalog=catalog | {"table_metadata_inlined": True}, clients=12)

    assert BELOW * workers / 2 <= saturated.commits_per_l <= ABOVE * workers / 2


# ---- the append catalog's log ------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["append_design", "log"])
def test_a_log_takes_one_record_per_round_trip(preset):
    """Whoever lands must know the offset of the record before: the news takes L/2 to come, the append L/2 to go."""
    catalog = {"type": "append", "append_preset": preset, "num_tables": 1_000}
    saturated = Saturated("spec", catalog=catalog)

    landed = sum(row["append_physical_success"] for row in saturated.committed) * L_MS / saturated.duration_ms
    assert 0.95 <= landed <= ABOVE


@pytest.mark.parametrize(
    ("preset", "protocol"), [("append_design", "iceberg"), ("log", "iceberg"), ("append_design", "spec")]
)
def test_on_one_table_records_of_losers_keep_a_log_far_below_the_ceiling(preset, protocol):
    """W = 3 (list read, list written) as for a swap, but a stale record lands as well and moves the offset.

    Clients that lost together come back together and queue for the log: each waits for the others' stale records
    to land, one per L, inside its own hazard window. Nothing is lost, little is gained.
    """
    saturated = Saturated(protocol, catalog={"type": "append", "append_preset": preset}, **terms_of(protocol))

    assert saturated.hazard_share <= 1.0
    assert saturated.shortest_window >= 3
    assert saturated.commits_per_l <= 0.5 / 3
