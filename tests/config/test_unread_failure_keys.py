"""Keys of ``[failures]`` that nothing reads: refused, with the reason, as those of other sections."""

import pytest

from endive.errors import ConfigError

BAD_FILES = [
    pytest.param(
        """
        [failures]
        lost_answer_timeout_ms = 500
        """,
        [
            "failures.lost_answer_timeout_ms = 500 is read by nothing: no answer is lost at "
            "failures.lost_answer_rate = 0. Remove it.",
        ],
        id="a timeout is read by nothing if no answer is lost",
    ),
    pytest.param(
        """
        [failures]
        lost_answer_rate = 0.1
        status_checks = 0
        lost_check_rate = 0.5
        """,
        [
            "failures.lost_check_rate = 0.5 is read by nothing: nothing is checked at failures.status_checks = 0. "
            "Remove it.",
        ],
        id="the rate of lost checks is read by nothing if there are none",
    ),
    pytest.param(
        """
        [failures]
        lost_answer_rate = 0.1
        throttle_wait_ms = 500
        """,
        [
            "failures.throttle_wait_ms = 500 is read by nothing: no request is throttled at failures.throttle_rate = 0."
            " Remove it.",
        ],
        id="the SDK's wait is read by nothing if no request is throttled",
    ),
    pytest.param(
        """
        [failures]
        throttle_rate = 0.1
        throttle_tries = 1
        throttle_wait_ms = 500
        """,
        [
            "failures.throttle_wait_ms = 500 is read by nothing: nothing is tried again at failures.throttle_tries = 1."
            " Remove it.",
        ],
        id="the SDK's wait is read by nothing if it tries once",
    ),
]


@pytest.mark.parametrize(("text", "problems"), BAD_FILES)
def test_a_key_of_failures_that_nothing_reads_is_refused_with_the_reason(parse, text, problems):
    with pytest.raises(ConfigError) as caught:
        parse(text)

    assert tuple(problems) == caught.value.problems
