"""What a question may hold, and what becomes of it."""

import pytest
from tests.explore.conftest import WRITERS

from endive.errors import ConfigError
from endive.explore.jobs import first
from endive.explore.limits import DURATION_MS_MAX, TXNS_MAX
from endive.explore.page_question import problems_by_key, read_question, reproduction_of
from endive.explore.starting_points import Starts, start_of


def asked(starts, **changes):
    return read_question({"start": WRITERS, "changes": changes}, starts)


def test_a_change_is_read_as_on_the_command_line(starts):
    length = {"simulation.duration_ms": "90s", "simulation.warmup_ms": "0", "simulation.cooldown_ms": "0"}
    base = asked(starts, **{"source.writers.retry": "7", **length}).base()

    assert 7 == base.config.sources[0].retry
    assert 90_000.0 == base.config.simulation.duration_ms


def test_a_start_that_states_no_length_gets_one_that_can_tell_and_the_answer_says_so(tmp_path):
    file = tmp_path / "nightly.toml"
    file.write_text('[[source]]\nname = "load"\narrivals = { kind = "periodic", period_ms = "1d" }\n')
    start = start_of(file, group="Your file")

    base = read_question({"start": start.id, "changes": {}}, Starts({start.id: start})).base()

    assert DURATION_MS_MAX == base.config.simulation.duration_ms
    assert base.notes[0].startswith("simulation.duration_ms is not given, so a run is 7 d long, about 7 txns")
    (event,) = first(base, lambda: False)
    assert f"W108 {base.notes[1]}" == event["warnings"][-1]
    assert "7 d" in event["answer"]["provenance"]


def test_a_rate_replaces_the_arrivals_whatever_they_were(starts):
    base = asked(starts, **{"source.writers.arrivals.per_s": "4"}).base()

    assert 250.0 == base.config.to_dict()["source"][0]["arrivals"]["mean_ms"]


def test_nothing_as_a_value_leaves_the_key_out(starts):
    question = asked(starts, **{"catalog.type": "cas", "catalog.latency": None, "catalog.service": None})

    assert "cas" == question.base().config.catalog.type
    assert ["catalog.latency", "catalog.service"] == question.left_out


def test_a_problem_belongs_beside_the_key_it_names_first():
    text = "catalog.latency is read by nothing with catalog.type = 'cas'."

    assert [{"text": text, "key": "catalog.latency"}] == problems_by_key(
        [text], ["catalog.type", "catalog.latency", "catalog"]
    )
    assert [{"text": "Something else.", "key": None}] == problems_by_key(["Something else."], ["catalog.type"])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"simulation.duration_ms": "8d"}, "simulation.duration_ms = 6.912e+08 is more than 6.048e+08"),
        ({"source.writers.retry": "10_000_000"}, "source.writers.retry = 10,000,000 is more than 1,000 attempts."),
        ({"catalog.num_tables": "1001"}, "catalog.num_tables = 1001 is more than 1,000 tables."),
        ({"source.writers.arrivals.clients": "100000"}, f"txns, more than {TXNS_MAX:,}."),
        (
            {"source.writers.arrivals": '{ kind = "jobs", jobs = 1_000_000, period_ms = "100d" }'},
            "1,000,000 writers (jobs and clients) and 1 partitions of 1 tables are as much work as 16,",
        ),
        (
            {"catalog.partitions": "{ enabled = true, num_partitions = 100_000 }", "catalog.num_tables": "90"},
            "9,000,000 partitions of 90 tables are as much work as 4",
        ),
    ],
)
def test_a_configuration_beyond_the_limits_is_refused_in_words(starts, changes, told):
    with pytest.raises(ConfigError, match="The page has this limit") as error:
        asked(starts, **changes).base()

    assert told in str(error.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"storage.provider": "/etc/passwd"},
        {"storage.provider": "mine.toml"},
        {"storage": '{ provider = "../mine.toml" }'},
        {"simulation.output_path": "out"},
        {"source.writers.arrivals": '{ kind = "trace", path = "trace.csv" }'},
        {"storage . provider": "/etc/passwd"},
        {'storage."pro\\u0076ider"': "/etc/passwd"},
        {"storage.'provider'": "mine.toml"},
        {'"storage".provider': "mine.toml"},
        {"storage": '{ "pro\\u0076ider" = "../mine.toml" }'},
        {"simulation . output_path": "out"},
        {'simulation."output\\u005fpath"': "out"},
        {"source.0.arrivals": '{ kind = "trace", path = "trace.csv" }'},
        {'source.writers."arrivals"': '{ kind = "trace", "p\\u0061th" = "trace.csv" }'},
        {"source.writers.arrivals.kind": "trace", "source . writers . arrivals . path": "trace.csv"},
        {"source": '[{ name = "x", arrivals = { kind = "trace", path = "trace.csv" } }]'},
    ],
)
def test_no_path_comes_from_a_request(starts, changes, monkeypatch):
    judged = []  # reading a configuration opens the files it names: it must not come to that
    monkeypatch.setattr("endive.explore.page_question.parse_config", lambda *given, **_: judged.append(given))
    with pytest.raises(ConfigError, match="the page takes no path"):
        asked(starts, **changes).base()

    assert [] == judged


def test_what_the_servers_own_file_names_stays_named(tmp_path):
    (tmp_path / "seen.csv").write_text("submit_ms,kind\n0,fast_append\n")
    (tmp_path / "mine.toml").write_text(
        '[simulation]\noutput_path = "rows.parquet"\n[[source]]\nname = "seen"\n'
        'arrivals = { kind = "trace", path = "seen.csv" }\n'
    )
    start = start_of(tmp_path / "mine.toml", group="")
    question = read_question({"start": start.id, "changes": {"catalog.num_tables": "2"}}, Starts({start.id: start}))

    base = question.base()

    assert 2 == base.config.catalog.num_tables
    assert "output_path" not in reproduction_of(question, base)["toml"]


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"start": "experiments/quickstart.toml"},
        {"start": WRITERS, "changes": []},
        {"start": WRITERS, "changes": {"a": 1}},
        {"start": WRITERS, "changes": {"k" * 201: "1"}},
        {"start": WRITERS, "changes": {f"a.b{n}": "1" for n in range(201)}},
        {"start": WRITERS, "vary": 3},
    ],
)
def test_what_is_no_question_is_refused_in_words(starts, body):
    with pytest.raises(ConfigError):
        read_question(body, starts)
