"""Mistakes in sources and their arrivals are told by the name of the source.

Every case holds a whole file and every line of its answer.
"""

import pytest

from endive.errors import ConfigError

BAD_FILES = [
    pytest.param(
        """
        [catalog]
        num_tables = 300
        [transaction.tables]
        count_zipf = 1.5
        """,
        [
            "transaction.tables.count_zipf = 1.5 may draw as many tables as there are, catalog.num_tables = 300, and a "
            "txn has at most 256. Lower catalog.num_tables, or give tables.count.",
        ],
        id="a drawn number of tables that may exceed what a txn can have is refused",
    ),
    pytest.param(
        """
        [quux]
        a = 1
        """,
        [
            "quux is not known. Sections are: simulation, experiment, slo, storage, catalog, table, "
            "commit, transaction, conflict, failures, source.",
        ],
        id="an unheard-of section lists the sections",
    ),
    pytest.param(
        """
        [transaction.inter_arrival]
        scale = 100.0
        [[source]]
        name = "w"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        """,
        [
            "transaction.inter_arrival and [[source]] are both given. Each source has its own "
            "arrivals: remove transaction.inter_arrival.",
        ],
        id="inter-arrival beside sources is refused",
    ),
    pytest.param(
        """
        [source]
        name = "w"
        """,
        [
            "source = {name = 'w'} must be written [[source]], with two brackets, one for each stream of txns.",
        ],
        id="a single bracket source is refused",
    ),
    pytest.param(
        """
        [[source]]
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        """,
        [
            "source.0.name is missing. Give a text of printable characters that is neither empty nor a number.",
        ],
        id="a source without a name is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        """,
        [
            'source.w.arrivals is missing. Give an arrivals table such as {kind = "poisson", mean_ms = 100.0}.',
        ],
        id="a source without arrivals is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = ""
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        """,
        [
            "source.0.name = '' must be a text of printable characters that is neither empty nor a number.",
        ],
        id="an empty name is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "7"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        """,
        [
            "source.7.name = '7' must be a text of printable characters that is neither empty nor a number.",
        ],
        id="a name that is a number is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        [[source]]
        name = "w"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        """,
        [
            "source.1.name = 'w' is already the name of source.0. Give each source a name of its own.",
        ],
        id="two sources of one name are refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "poison", mean_ms = 10.0 }
        """,
        [
            "source.w.arrivals.kind = 'poison' is not known. Choose one of: poisson, fixed, "
            "uniform, lognormal, closed, periodic, jobs, trace. Did you mean 'poisson'?",
        ],
        id="an unknown kind of arrivals names the nearest one",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "poisson", mean_ms = 10.0, per_s = 5 }
        """,
        [
            "source.w.arrivals needs exactly one of mean_ms, per_s; both are given.",
        ],
        id="a rate given twice is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "closed", clients = 2, mean_ms = 10.0 }
        """,
        [
            "source.w.arrivals.mean_ms = 10.0 is not a key of kind = 'closed', which takes: clients, think_ms.",
        ],
        id="a key of another kind of arrivals says what this one takes",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "closed", clients = 0, think_ms = -1 }
        """,
        [
            "source.w.arrivals.clients = 0 must be a whole number from 1 to 1000000.",
            "source.w.arrivals.think_ms = -1 must be a number of milliseconds of at least 0.",
        ],
        id="a closed loop without clients is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "periodic", period_ms = 10.0, jitter_ms = 11.0 }
        """,
        [
            "source.w.arrivals.jitter_ms = 11.0 must be less than period_ms = 10.0.",
        ],
        id="jitter longer than the period is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "trace", path = "none.csv" }
        """,
        [
            "source.w.arrivals.path = 'none.csv' does not exist. Give the path of a trace file.",
        ],
        id="a trace that does not exist is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        start_ms = 3_600_000
        """,
        [
            "source.w.start_ms = 3600000.0 must be less than simulation.duration_ms = 3600000.0, or "
            "the source never submits.",
        ],
        id="a source that starts after the end is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        start_ms = 10
        stop_ms = 10
        """,
        [
            "source.w.stop_ms = 10.0 must be greater than start_ms = 10.0.",
        ],
        id="a source that stops before it starts is refused",
    ),
    pytest.param(
        """
        [[source]]
        name = "two words"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        retry = -1
        """,
        [
            'source."two words".retry = -1 must be a whole number from 0 to 1000000.',
        ],
        id="a source's problem is told by its name",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { mean_ms = 5 }
        """,
        [
            "source.w.arrivals.kind is missing. Choose one of: poisson, fixed, uniform, lognormal, "
            "closed, periodic, jobs, trace.",
        ],
        id="arrivals without a kind list the kinds",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = 5
        """,
        [
            'source.w.arrivals = 5 must be a table such as {kind = "poisson", mean_ms = 100.0}.',
        ],
        id="arrivals that are a number show a table",
    ),
    pytest.param(
        """
        [[source]]
        name = "w"
        arrivals = { kind = "poisson", mean_ms = 10.0 }
        retries = 5
        """,
        [
            "source.w.retries is not known. Did you mean 'retry'?",
        ],
        id="a misspelt key of a source names the nearest one",
    ),
    pytest.param(
        """
        source = [5]
        """,
        [
            "source.0 = 5 must be a table with keys: name, arrivals, start_ms, stop_ms, "
            "operation_types, runtime, tables, partitions, keeps_table, retry, retry_backoff, total_timeout_ms, "
            "application_retries, isolation, overwrite, rewritten_manifests, partial_progress, retain_last, "
            "expire_older_than_ms, referenced_files, touched_files, "
            "real_conflict_probability.",
        ],
        id="a source that is no table is refused",
    ),
    pytest.param(
        """
        [transaction]
        start_ms = 5
        """,
        [
            "transaction.start_ms is not known. Did you mean 'source.*.start_ms'?",
        ],
        id="a key of a source given for all of them says where it belongs",
    ),
]


@pytest.mark.parametrize(("text", "problems"), BAD_FILES)
def test_a_mistake_in_a_source_is_told_by_its_name(parse, text, problems):
    with pytest.raises(ConfigError) as caught:
        parse(text)

    assert tuple(problems) == caught.value.problems
