"""A distribution table that describes no distribution is told with what its family takes.

Every case holds a whole file and every line of its answer.
"""

import pytest

from endive.errors import ConfigError

BAD_FILES = [
    pytest.param(
        """
        [transaction.runtime]
        mean = 100.0
        """,
        [
            "transaction.runtime.mean = 100.0 must be greater than min = 30000.0, its default. Give "
            "min too, for example 0.",
        ],
        id="a mean runtime below the default minimum asks for a minimum",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { mean = 100.0, min = 100.0 }
        """,
        [
            "transaction.runtime.mean = 100.0 must be greater than min = 100.0.",
        ],
        id="a mean runtime below its minimum is refused",
    ),
    pytest.param(
        """
        [transaction]
        runtime = 5
        """,
        [
            "transaction.runtime = 5 must be a table such as {mean = 180000, sigma = 1.5} or "
            '{distribution = "fixed", ms = 1.0}, or a time such as "20min".',
        ],
        id="a runtime that is a number must be a table",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "lognormall", mu = 1, sigma = 1 }
        """,
        [
            "transaction.runtime.distribution = 'lognormall' is not known. Choose one of: fixed, "
            "lognormal, size_based, truncated_normal, exponential, uniform, gamma, empirical, "
            "mixture. Did you mean 'lognormal'?",
        ],
        id="an unknown distribution names the nearest one",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "fixed", ms = 1.0, sigma = 1 }
        """,
        [
            "transaction.runtime.sigma = 1 is not a key of distribution = 'fixed', which takes: ms, min_latency_ms.",
        ],
        id="a key of another family says what this one takes",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "exponential" }
        """,
        [
            "transaction.runtime.mean_ms is missing. Give a number of milliseconds greater than 0.",
        ],
        id="a family that misses its key says what to give",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "uniform", low_ms = 5, high_ms = 4 }
        """,
        [
            "transaction.runtime.high_ms = 4 must be at least low_ms = 5.0.",
        ],
        id="a uniform upside down is refused",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "empirical", quantiles = [[0.1, 5.0], [0.2, 4.0]] }
        """,
        [
            "transaction.runtime.quantiles = [[0.1, 5.0], [0.2, 4.0]] must rise, but [0.2, 4.0] follows [0.1, 5.0].",
        ],
        id="falling quantiles are refused",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "mixture", components = [{ distribution = "fixed", ms = 1.0 }] }
        """,
        [
            "transaction.runtime.components.0.weight is missing. Give a number greater than 0.",
        ],
        id="a component of a mixture without a weight is refused",
    ),
    pytest.param(
        """
        [storage]
        T_CAS = { mean = 0.5, stddev = 0.0 }
        """,
        [
            "storage.T_CAS.mean = 0.5 leaves nothing above the truncation at 1.0 ms. Raise it.",
        ],
        id="a truncation that leaves nothing is refused",
    ),
    pytest.param(
        """
        [storage]
        T_CAS = { median = 4 }
        """,
        [
            "storage.T_CAS says no latency. Give {mean, stddev}, {mu, sigma}, {base_latency_ms, "
            "latency_per_mib_ms, sigma} or a distribution table such as {distribution = 'fixed', ms "
            "= 50.0}.",
        ],
        id="an override without figures says which forms there are",
    ),
    pytest.param(
        """
        [storage]
        T_MANIFEST_LIST = { read = { mean = 50.0 } }
        """,
        [
            "storage.T_MANIFEST_LIST.read.stddev is missing. Give a number of milliseconds of at least 0.",
        ],
        id="a form of override that lacks a figure says which",
    ),
    pytest.param(
        """
        [storage]
        T_CAS = { mu = 1, sigma = 1, failure = { mu = 1, sigma = -1 } }
        """,
        [
            "storage.T_CAS.failure.sigma = -1 must be a number from 0 to 8.",
        ],
        id="a failure latency is checked like any other",
    ),
    pytest.param(
        """
        [commit]
        protocol = "merge"
        [transaction]
        conflicting_manifests = { distribution = "fixed", mean = 4 }
        """,
        [
            "transaction.conflicting_manifests.value is missing. Give a whole number from 0 to 1000000.",
            "transaction.conflicting_manifests.mean = 4 is not a key of distribution = 'fixed', which takes: value.",
        ],
        id="a fixed number of conflicting manifests needs its value",
    ),
    pytest.param(
        """
        [transaction]
        inter_arrival = { distribution = "exponental", scale = 5 }
        """,
        [
            "transaction.inter_arrival.distribution = 'exponental' is not known. Choose one of: "
            "exponential, fixed, uniform, lognormal. Did you mean 'exponential'?",
        ],
        id="an unknown inter-arrival distribution names the nearest one",
    ),
    pytest.param(
        """
        [transaction]
        runtime.distribution = "mixture"
        runtime.components = [{ weight = 1, distribution = "mixture", components = [] }]
        """,
        [
            "transaction.runtime.components.0.distribution = 'mixture' is not known. Choose one of: "
            "fixed, lognormal, size_based, truncated_normal, exponential, uniform, gamma, "
            "empirical.",
        ],
        id="a mixture of mixtures is refused",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "lognormal", mean_ms = 5, sigma = 1, shift_ms = 5 }
        """,
        [
            "transaction.runtime.mean_ms = 5 must be greater than shift_ms = 5.0, which it includes.",
        ],
        id="a mean at its shift is refused",
    ),
    pytest.param(
        """
        [catalog]
        type = "instant"
        latency = { ms = 5 }
        """,
        [
            "catalog.latency.distribution is missing. Choose one of: fixed, lognormal, size_based, "
            "truncated_normal, exponential, uniform, gamma, empirical, mixture.",
        ],
        id="a distribution without its name lists the names",
    ),
    pytest.param(
        """
        [catalog]
        type = "service"
        service = { time = 5 }
        """,
        [
            'catalog.service.time = 5 must be a table such as {distribution = "fixed", ms = 50.0}.',
        ],
        id="a distribution that is a number shows a table",
    ),
    pytest.param(
        """
        [transaction]
        runtime = { distribution = "empirical", quantiles = [0.5] }
        """,
        [
            "transaction.runtime.quantiles = [0.5] must be a list of pairs [p, ms], p rising "
            "between 0 and 1 and ms never falling.",
        ],
        id="quantiles that are no pairs are refused",
    ),
]


@pytest.mark.parametrize(("text", "problems"), BAD_FILES)
def test_a_table_that_describes_no_distribution_is_refused(parse, text, problems):
    with pytest.raises(ConfigError) as caught:
        parse(text)

    assert tuple(problems) == caught.value.problems
