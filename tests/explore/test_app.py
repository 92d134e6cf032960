"""The routes: what a page is told, and in which order."""

import tomllib

import pytest
from tests.explore.conftest import SHORT, TOKEN, WRITERS, events_in
from tests.integration.test_words_of_a_format import found_in

from endive.answers.cases import assess
from endive.answers.replicate import Replicator, run_sample
from endive.answers.run_answer import RunAnswer
from endive.config import load_simulation_config, parse_config
from endive.config.slo import objective_of
from endive.errors import ConfigError
from endive.explore.starting_points import Starts, start_of

ASK = f"/{TOKEN}/api"


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch):
    monkeypatch.setattr("endive.explore.jobs.SEEDS", (1, 2, 12))
    monkeypatch.setattr("endive.explore.jobs.COMPARE_SEEDS", (2, 4))


def question(**changes):
    return {"start": WRITERS, "changes": {**SHORT, **changes}, "vary": "source.writers.arrivals.clients"}


@pytest.mark.lengthy
def test_the_first_answer_is_a_short_run_and_then_seeds_are_added_and_the_bands_narrow(client):
    answers = events_in(client.post(f"{ASK}/ask", json=question()).text)

    assert ["first", "refined", "refined", "done"] == [event["stage"] for event in answers]
    assert [1, 1, 2, 12] == [len(event["seeds"]) for event in answers]
    assert ["prompt/first", "patient/refine"] == client.app.state.crew.jobs
    success = [event["answer"]["tables"][0]["rows"][0]["cells"][2]["text"] for event in answers]
    assert "[" not in success[0]  # one run has no interval
    assert "[" in success[-1]


@pytest.mark.parametrize("name", ["quickstart", "questions/rest_catalog"])
def test_an_answer_is_the_one_the_command_line_gives(client, experiments, monkeypatch, name):
    """Every text of the page's answer is one that ``endive run`` has for the same configuration and seeds."""
    start = start_of(experiments / f"{name}.toml", group="")
    client.app.state.starts = Starts({start.id: start})
    asked = {"start": start.id, "changes": SHORT}
    last = events_in(client.post(f"{ASK}/ask", json=asked).text)[-1]
    config = parse_config(tomllib.loads(client.post(f"{ASK}/open", json=asked).json()["toml"]))
    samples = [run_sample(config, seed) for seed in range(config.simulation.seed, config.simulation.seed + 12)]
    with Replicator(processes=1) as replicator:
        objective = objective_of(config)
        assessment = assess(config, objective, samples, replicator)
    found = (
        RunAnswer(config, tuple(samples), objective, "run", assessment=assessment).to_answer("explored.toml").to_dict()
    )

    for part in ("headline", "tables", "facts", "why", "provenance"):
        assert found[part] == last["answer"][part]
    assert found["headline"] == last["headline"]
    assert [each["code"] for each in found["warnings"]] == [text.split()[0] for text in last["warnings"]]


def test_an_invalid_value_is_told_beside_its_control(client):
    answers = events_in(client.post(f"{ASK}/ask", json=question(**{"source.writers.retry": "-1"})).text)

    assert ["refused"] == [event["type"] for event in answers]
    assert "source.writers.retry" == answers[0]["problems"][0]["key"]
    assert "source.writers.retry = -1" in answers[0]["problems"][0]["text"]


@pytest.mark.parametrize(
    "change",
    [
        "source.writers.retry=-1",
        "storage.provider=nowhere",
        "catalog.type=append",
        "catalog.num_tabels=3",
        "source.writers.arrivals.clients=many",
        "simulation.warmup_ms=3h",
    ],
)
def test_what_is_refused_is_refused_in_the_words_of_the_command_line(client, experiments, change):
    start = start_of(experiments / "quickstart.toml", group="")
    client.app.state.starts = Starts({start.id: start})
    key, _, text = change.partition("=")
    with pytest.raises(ConfigError) as refused:
        load_simulation_config(start.file, [change])

    (answer,) = events_in(client.post(f"{ASK}/ask", json={"start": start.id, "changes": {key: text}}).text)

    assert "refused" == answer["type"]
    assert list(refused.value.problems) == [problem["text"] for problem in answer["problems"]]


@pytest.mark.parametrize(
    ("route", "body", "told"),
    [
        ("ask", b"{", "The question is not JSON."),
        ("ask", b"[" * 30_000 + b"]" * 30_000, "The question is nested more than 32 levels deep."),
        ("ask", b'{"start": "\\ud800"}', "The question holds half of a surrogate pair, which is no character."),
        ("ask", b'{"start": ' + b"9" * 5_000 + b"}", "The question is not JSON."),
        ("ask", b'{"start": NaN}', "The question is not JSON."),
        ("ask", b"\xff", "The question is not UTF-8 text (byte 0)."),
        (
            "open",
            b'{"start": "point/x/' + b"9" * 5_000 + b'"}',
            "The start of the question is not known to this server.",
        ),
        ("compare", b"{}", "A comparison needs two questions, a and b."),
        ("compare", b'{"a": 1, "b": []}', "A question is an object with start, changes and vary."),
    ],
    ids=range(9),
)
def test_a_hostile_body_is_refused_in_words_with_the_headers_that_guard_the_page(client, route, body, told):
    answer = client.post(f"{ASK}/{route}", content=body)

    (problem,) = answer.json()["problems"]
    assert (422, told) == (answer.status_code, problem["text"][: len(told)])
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_a_mistake_of_ours_is_told_without_a_traceback_and_with_the_headers(client, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("endive.explore.app.read_question", fail)

    answer = client.post(f"{ASK}/open", json=question())

    assert 500 == answer.status_code
    assert answer.text.startswith("This is a mistake in Endive")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_a_comparison_pairs_both_sides_by_seed(client):
    both = {"a": question(), "b": question(**{"source.writers.arrivals.clients": "40"})}

    answers = events_in(client.post(f"{ASK}/compare", json=both).text)

    assert [2, 4] == [event["seeds"] for event in answers]
    assert [["source.writers.arrivals.clients", "20", "40"]] == answers[0]["keys"]
    rate = next(row for row in answers[-1]["rows"] if row["figure"] == "committed_per_s")
    assert "more" == rate["outcome"]


def test_the_same_on_both_sides_differs_in_nothing(client):
    answers = events_in(client.post(f"{ASK}/compare", json={"a": question(), "b": question()}).text)

    assert {"same"} == {row["outcome"] for row in answers[-1]["rows"]}


def test_the_command_of_a_changed_file_runs_the_same_simulation(client, experiments, monkeypatch):
    monkeypatch.chdir(experiments.parent)
    start = start_of(experiments / "questions" / "rest_catalog.toml", group="")
    client.app.state.starts = Starts({start.id: start})
    changes = {"source.writers.arrivals.per_s": "2.5", "source.writers.retry": "6"}

    found = client.post(f"{ASK}/open", json={"start": start.id, "changes": changes}).json()

    assert found["command"].startswith("endive run ")
    words = found["command"].split(" --set ")
    sets = [word.strip("'") for word in words[1:]]
    assert load_simulation_config(start.file, sets).config_hash() == found["hash"]


def test_what_has_no_file_is_run_from_the_copied_file(client):
    found = client.post(f"{ASK}/open", json=question()).json()

    assert "endive run explored.toml" == found["command"]


def test_the_load_of_all_sources_can_be_varied_too(client, monkeypatch):
    monkeypatch.setattr("endive.explore.curve.SEEDS", (1,))
    monkeypatch.setattr("endive.explore.curve.LIMIT_SIMULATIONS_MAX", 8)

    answers = events_in(client.post(f"{ASK}/curve", json={**question(), "vary": "load"}).text)

    success = next(chart for chart in answers[0]["charts"] if chart["id"] == "success")
    assert ["0.125", "0.25", "0.5", "1", "2", "4", "8"] == sorted((row["xl"] for row in success["rows"]), key=float)
    assert 1.0 == answers[0]["now"]


@pytest.mark.parametrize("vary", ["no.such.key", "catalog.type"])
def test_a_curve_along_what_is_no_number_says_so(client, vary):
    answers = events_in(client.post(f"{ASK}/curve", json={**question(), "vary": vary}).text)

    assert ["refused"] == [event["type"] for event in answers]


def strings_in(value):
    """Every text of a JSON value that is shown: not its keys."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    return [text for each in value for text in strings_in(each)] if hasattr(value, "__iter__") else []


@pytest.mark.lengthy
def test_a_page_switched_to_the_other_format_speaks_its_words(client):
    changes = {"table.format": "delta", "source.writers.operation_types": "{blind_append = 0.5, optimize = 0.5}"}
    answers = events_in(client.post(f"{ASK}/ask", json=question(**changes)).text)
    told = "\n".join(strings_in(answers))

    assert "done" == answers[-1]["stage"]
    assert "optimize" in told
    assert set() == found_in(told, "iceberg")
