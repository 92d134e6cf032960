"""The resolved configuration as a file, and the hash that names it."""

import pickle
import tomllib
from pathlib import Path

import pytest

from endive.config import apply_overrides, load_simulation_config, parse_config
from endive.config.toml_text import toml_text
from endive.errors import ConfigError

GOOD = sorted((Path(__file__).parent / "good").glob("*.toml"))
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in GOOD}
MANY_KEYS = TEXTS["many_keys"]
FORMER = pytest.mark.filterwarnings("ignore::endive.config.reading.former_names.ConfigNote")


@FORMER
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_configuration_survives_being_written_down_and_the_trip_to_another_process(parse, text):
    config = parse(text)

    again = parse_config(tomllib.loads(config.to_toml()))

    assert config == again
    assert config.config_hash() == again.config_hash()
    assert config.to_toml() == again.to_toml()
    assert config == pickle.loads(pickle.dumps(config))


def test_the_resolved_file_names_every_key_that_is_read(parse):
    plain = parse("").to_dict()

    assert ["simulation", "storage", "catalog", "table", "commit", "transaction", "conflict", "source"] == list(plain)
    assert {"manifest_list_mode": "rewrite"} == plain["transaction"]
    assert {
        "name": "default",
        "arrivals": {"kind": "poisson", "mean_ms": 1000.0},
        "start_ms": 0.0,
        "operation_types": {"fast_append": 1.0},
        "runtime": {"distribution": "lognormal", "mean_ms": 180000.0, "sigma": 1.5, "shift_ms": 30000.0},
        "tables": {"count": 1, "selection": "uniform", "write_fraction": 1.0},
        "keeps_table": False,
        "retry": 4,
        "retry_backoff": {"policy": "iceberg", "base_ms": 100.0, "multiplier": 2.0, "max_ms": 60000.0, "jitter": 0.1},
        "total_timeout_ms": 1800000.0,
    } == plain["source"][0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[simulation]\nseed = 7", id="the seed"),
        pytest.param('[simulation]\noutput_path = "a.parquet"', id="the output path"),
        pytest.param('[experiment]\nlabel = "a"', id="the label"),
        pytest.param('[slo]\nobjective = "default.p99_commit <= 5s"', id="the objective"),
        pytest.param("# a comment\n[catalog]\nnum_tables=0x1", id="the way it is written"),
        pytest.param("[simulation]\nduration_ms = 3_600_000.0", id="a whole number written as a fraction"),
        pytest.param("[transaction]\nretry = 4", id="a default that is spelt out"),
        pytest.param("[simulation]\nwarmup_ms = 900_000", id="a computed default that is spelt out"),
        pytest.param("[table]\nmetadata_base_bytes = 5000", id="a size that is spelt out"),
        pytest.param("[transaction]\nruntime = { mean = 180_000 }", id="a short form"),
        pytest.param("[transaction]\nreal_conflict_probability = -0.0", id="a negative zero"),
        pytest.param(
            '[[source]]\nname = "default"\narrivals = { kind = "poisson", per_s = 1 }', id="the one source spelt out"
        ),
        pytest.param(
            "[storage]\nT_TABLE_METADATA.read = { mean = 20, stddev = 5 }", id="a latency of metadata that is inlined"
        ),
    ],
)
def test_the_hash_does_not_depend_on(parse, text):
    assert parse("").config_hash() == parse(text).config_hash()


@pytest.mark.parametrize(
    "text",
    [
        "[simulation]\nduration_ms = 3_600_001",
        "[simulation]\nwarmup_ms = 0",
        '[storage]\nvintage = "original"',
        "[storage]\nmin_latency_ms = 1.0",
        "[catalog]\nnum_tables = 2",
        '[commit]\nprotocol = "pyiceberg"',
        "[table]\nmanifest_bytes = 8001",
        "[transaction]\nretry = 5",
        '[transaction.retry_backoff]\npolicy = "exponential"',
        '[[source]]\nname = "other"\narrivals = { kind = "poisson", per_s = 1 }',
    ],
)
def test_the_hash_depends_on_what_decides_results(parse, text):
    assert parse("").config_hash() != parse(text).config_hash()


def test_the_hash_is_that_of_every_machine(parse):
    assert "0bd4881f15773fb46a14f2628f43f76f" == parse("").config_hash()


def test_a_profile_counts_in_the_hash_by_its_bytes_and_not_by_its_place(parse, tmp_path):
    here, there, other = (tmp_path / name for name in ("here.toml", "there.toml", "other.toml"))
    for file in (here, there):
        file.write_text('capabilities = ["read", "write", "cas"]')
    other.write_text('capabilities = ["read", "write", "cas"]  # changed')
    hashes = [parse(f'[storage]\nprovider = "{file}"').config_hash() for file in (here, there, other)]

    assert hashes[0] == hashes[1]
    assert hashes[0] != hashes[2]


def test_a_file_that_vanished_since_is_told(parse, tmp_path):
    profile = tmp_path / "mine.toml"
    profile.write_text('capabilities = ["read", "write", "cas"]')
    config = parse(f'[storage]\nprovider = "{profile}"')
    profile.unlink()

    with pytest.raises(ConfigError) as caught:
        config.config_hash()

    assert (f"'{profile}' cannot be read: No such file or directory.",) == caught.value.problems


def test_other_luck_is_the_same_configuration(parse):
    config = parse("")
    other = config.with_seed(7)

    assert (42, 7) == (config.simulation.seed, other.simulation.seed)
    assert config.config_hash() == other.config_hash()
    assert parse("[simulation]\nseed = 7") == other


def test_luck_that_is_no_seed_is_refused(parse):
    with pytest.raises(ConfigError) as caught:
        parse("").with_seed(-1)

    assert ("simulation.seed = -1 must be a whole number from 0 to 9223372036854775807.",) == caught.value.problems


def test_a_configuration_is_frozen(parse):
    config = parse("")

    with pytest.raises(ValueError, match="frozen"):
        config.catalog.num_tables = 2


def test_text_of_any_kind_survives_being_written_as_toml():
    label = 'quote " backslash \\ tab \t line \n bell \x07 delete \x7f umlaut ü'
    document = {"experiment": {"label": label, "odd key": [1, 2.5, True, {"a": {}}]}}

    assert document == tomllib.loads(toml_text(document))


def test_an_override_changes_the_plain_form_at_its_key(parse):
    plain = parse(MANY_KEYS).to_dict()

    changed = parse_config(apply_overrides(plain, {"source.rate.retry": 3, "storage.max_parallel": 8}))

    assert (10, 3, 8) == (changed.sources[0].retry, changed.sources[1].retry, changed.storage.max_parallel)


def test_a_file_in_a_folder_names_a_trace_by_its_way_from_there_and_loads_to_the_same_hash(tmp_path):
    trace, folder = tmp_path / "seen.csv", tmp_path / "out" / "run"
    trace.write_text("submit_ms,kind\n0,fast_append\n")
    folder.mkdir(parents=True)
    source = {"name": "seen", "arrivals": {"kind": "trace", "path": str(trace)}}
    resolved = parse_config({"simulation": {"output_path": "out/x.parquet"}, "source": [source]})
    (folder / "config.toml").write_text(resolved.to_toml(folder))

    written = (folder / "config.toml").read_text()
    assert (False, False) == (str(tmp_path) in written, "output_path" in written)
    assert resolved.config_hash() == load_simulation_config(folder / "config.toml").config_hash()
