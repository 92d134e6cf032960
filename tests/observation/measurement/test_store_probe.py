"""Measuring a store: what is asked for, what is written down, and that nothing is left behind."""

import tomllib
from types import SimpleNamespace

import pytest

from endive.errors import ConfigError, ObservationError
from endive.observation.measurement import probe_plan
from endive.observation.measurement import store_probe as probing
from endive.observation.measurement.probe_plan import CLIENTS, ProbePlan, make_plan
from endive.observation.measurement.store_check import check_store, fit_share, measured_table, play
from endive.observation.measurement.store_probe import Measured, Stores, SwapStep, probe
from endive.observation.measurement.store_profile import profile_document, profile_text
from endive.storage import CAS, CATALOG, READ, WRITE
from endive.storage.profile_file import parse_profile

obstore = pytest.importorskip("obstore")
PLAN = ProbePlan(samples=3, swaps=8, provider=None)


def memory() -> Stores:
    from obstore.store import MemoryStore

    store = MemoryStore()
    return Stores(probed=store, cleaned=store)


def paths(stores: Stores) -> list[str]:
    return [entry["path"] for batch in obstore.list(stores.cleaned) for entry in batch]


def run(stores: Stores, plan: ProbePlan = PLAN) -> Measured:
    return probe(stores, plan, seconds_max=60.0, progress=lambda done, total: None)


def test_every_operation_is_measured_at_every_size_within_the_plan_and_nothing_is_left():
    stores = memory()

    measured = run(stores)

    assert [3] * 12 == [len(values) for values in measured.latencies_ms.values()]
    assert [1, 2, 4, 8, 16] == list(measured.swaps)
    assert 8 * 5 == sum(len(step.success_ms) + len(step.refused_ms) for step in measured.swaps.values())
    assert measured.requests <= PLAN.total
    assert [] == paths(stores)


def test_a_plan_keeps_below_its_limits_of_requests_and_price(monkeypatch):
    prices = {WRITE: SimpleNamespace(usd_per_1000=5.0), READ: SimpleNamespace(usd_per_1000=1.0)}
    monkeypatch.setattr(probe_plan, "load_profile", lambda name: SimpleNamespace(prices=prices))

    by_requests = make_plan("s3", requests_max=700, usd_max=9.0, with_swaps=True)
    by_price = make_plan("s3", requests_max=9000, usd_max=2.0, with_swaps=True)

    assert 700 >= by_requests.total > 650
    counts = by_price.requests
    dear = counts["put"] + counts["delete"] + counts["list"]
    assert (5.0 * dear + counts["get"] + counts["head"]) / 1000.0 == pytest.approx(by_price.usd)
    assert 2.0 >= by_price.usd > 1.9


def test_a_limit_below_the_smallest_measurement_is_refused():
    with pytest.raises(ConfigError, match=r"^--max-requests 50 or --max-usd 1 is too little: the smallest measurement"):
        make_plan("s3", requests_max=50, usd_max=1.0, with_swaps=True)


def test_a_store_that_refuses_conditional_puts_is_told_in_one_line_left_empty_and_measured_without(tmp_path):
    from obstore.store import LocalStore

    store = LocalStore(tmp_path)
    stores = Stores(probed=store, cleaned=store)

    with pytest.raises(ObservationError, match=r"^the store refuses conditional puts .* --no-swaps\.$"):
        run(stores)
    assert [] == paths(stores)
    assert {} == run(stores, ProbePlan(samples=2, swaps=0, provider=None)).swaps


class Dying:
    """obstore on a network that fails from the n-th request on; cleaning still works."""

    def __init__(self, requests: int, error: type[BaseException] = RuntimeError) -> None:
        self._left = requests
        self._error = error
        self.list = obstore.list

    def _request(self, name: str):
        def call(*arguments, **more):
            self._left -= 1
            if self._left < 0 and not isinstance(arguments[-1], list):
                raise self._error("connection reset; token=abc123")
            return getattr(obstore, name)(*arguments, **more)

        return call

    def __getattr__(self, name: str):
        return self._request(name)


@pytest.mark.parametrize(
    ("requests", "error", "told"),
    [
        *((requests, RuntimeError, "the store failed: connection reset; token=***.") for requests in (0, 7, 40)),
        (9, KeyboardInterrupt, "connection reset; token=abc123"),
    ],
)
def test_a_network_that_dies_half_way_or_an_interrupt_leaves_nothing_in_the_store(monkeypatch, requests, error, told):
    stores = memory()
    dying = Dying(requests, error)
    monkeypatch.setattr(probing, "library", lambda module="": dying)

    with pytest.raises(ObservationError if error is RuntimeError else error) as ended:
        run(stores)

    assert (told, []) == (str(ended.value), paths(stores))


def test_objects_that_cannot_be_removed_are_named(monkeypatch):
    def fail(*arguments, **more):
        raise RuntimeError("gone")

    monkeypatch.setattr(probing, "CLEANING_PAUSE_S", 0.0)
    shim = SimpleNamespace(put=obstore.put, head=obstore.head, get=obstore.get, delete=obstore.delete, list=fail)
    monkeypatch.setattr(probing, "library", lambda module="": shim)

    with pytest.raises(ObservationError, match=r"^objects below 'endive-measure-\w+/' could not be removed \(gone\)\."):
        run(memory())


def test_a_swap_that_the_store_fails_to_answer_is_one_of_the_failures_it_is_allowed(monkeypatch):
    failed: list[str] = []

    def put(store, path, *arguments, **more):
        if "/swap-" in path and "mode" in more and not failed:
            failed.append(path)
            raise RuntimeError("500 Internal Server Error")
        return obstore.put(store, path, *arguments, **more)

    shim = SimpleNamespace(put=put, head=obstore.head, get=obstore.get, delete=obstore.delete, list=obstore.list)
    monkeypatch.setattr(probing, "library", lambda module="": shim)

    measured = run(memory())

    assert ({"RuntimeError": 1}, sorted(CLIENTS)) == (measured.failures, sorted(measured.swaps))


def made_up() -> Measured:
    sizes = (8 * 1024, 64 * 1024, 1024 * 1024)
    base = {"put": 30.0, "head": 10.0, "get": 20.0, "delete": 15.0}
    latencies = {(op, size): [ms + 40.0 * size / 1024**2] * 20 for op, ms in base.items() for size in sizes}
    steps = {1: SwapStep(seconds=2.0, success_ms=[50.0] * 20, head_ms=[10.0] * 20)}
    steps[16] = SwapStep(seconds=2.0, success_ms=[80.0] * 10, refused_ms=[30.0] * 90, head_ms=[10.0] * 100)
    return Measured(latencies_ms=latencies, swaps=steps)


def document_of(measured: Measured, **more: str) -> dict:
    return profile_document(measured, **{"name": "mine", "title": "t", "date": "2026-03-01"} | more)


def test_the_profile_that_is_written_is_one_that_can_be_read():
    text = profile_text(document_of(made_up(), title="t", provider="s3"), ["one"])
    profile = parse_profile(tomllib.loads(text), "mine.toml", "mine")

    assert text.startswith("# one\n")
    assert frozenset((READ, WRITE, CAS)) == profile.capabilities
    assert (50.0, 30.0) == tuple(profile.latency(CATALOG, CAS, success).quantile(0.5) for success in (True, False))
    assert 22.5 == profile.latency(CATALOG, READ).quantile(0.5)
    assert "measured" == profile.vintage


def test_table_metadata_has_a_median_that_grows_and_swaps_that_take_longer_beside_others_are_contention():
    document = document_of(made_up())
    read, contention = document["objects"]["metadata"]["read"], document["contention"]["cas"]

    assert (20.0, 40.0) == (read["median_ms"], read["latency_per_mib_ms"])
    assert 50.0 == contention["window_ms"]
    assert [0.5, 30.0] in contention["penalty"]["quantiles"]


def test_of_contention_by_clients_the_one_is_taken_that_fits_all_of_them_best():
    """As of a small server on the same machine: the more clients, the slower everybody; a profile has one penalty."""
    told = {1: (48, 0, 149.32, 3.2, 0.0), 2: (29, 19, 83.09, 6.0, 7.9), 4: (18, 30, 55.78, 12.0, 14.7)}
    told |= {8: (10, 38, 29.86, 20.9, 27.4), 16: (5, 43, 13.41, 52.8, 57.0)}
    measured = made_up()
    measured.swaps = {
        clients: SwapStep(
            seconds=made / per_s, success_ms=[won] * made, refused_ms=[lost] * refused, head_ms=[won] * (made + refused)
        )
        for clients, (made, refused, per_s, won, lost) in told.items()
    }

    document = document_of(measured)

    assert document["contention"]["cas"]["source"].endswith("10 swaps by 8 clients beside one")
    assert [0.5, 17.7] in document["contention"]["cas"]["penalty"]["quantiles"]


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_when_a_store_decides_is_found_again_in_what_it_did(share):
    steps = {}
    for clients in (1, 2, 4, 8, 16):
        per_s, refused = play(clients, share, [10.0], [40.0], [40.0])
        won = round(1000 * (1.0 - refused))
        steps[clients] = SwapStep(
            seconds=won / per_s, success_ms=[40.0] * won, refused_ms=[40.0] * (1000 - won), head_ms=[10.0] * 1000
        )

    assert share == fit_share(steps)


def test_a_profile_is_held_against_what_was_measured():
    """Sizes lie on a line; a lone client of the profile takes 12.5 ms to look and 50 to swap: 16 per second."""
    found = made_up()
    document = {**document_of(found), "measured": measured_table(found)}

    rows = {row.what: row for row in check_store(document, "mine.toml")}

    assert [0.0, 0.0] == [pytest.approx(rows[f"GET of {size} KiB"].misfit_percent, abs=0.1) for size in (64, 1024)]
    alone = rows["swaps per second, 1 client"]
    assert (10.0, 16.0) == (alone.measured_ms, pytest.approx(alone.profile_ms, rel=0.01))
    assert 90.0 == rows["swaps refused in %, 16 clients"].measured_ms
    parse_profile(document, "mine.toml", "mine")
    with pytest.raises(ConfigError, match=r"'old.toml' does not say what was measured"):
        check_store({key: value for key, value in document.items() if key != "measured"}, "old.toml")
