"""A server's answer: bounded in bytes and time, and from the host that was asked."""

import pytest
from tests.intake.servers import DRIPPING, DRIPPING_HEADERS, REDIRECTING, serving
from tests.waiting import PATIENCE_S

from endive.errors import IntakeError
from endive.intake import fetch, refuse_other_host


def refusal(url: str, seconds_max: float = PATIENCE_S) -> str:
    with pytest.raises(IntakeError) as error:
        fetch(url, bytes_max=100_000, seconds_max=seconds_max, name="it")
    return str(error.value)


def test_an_answer_within_its_limits_is_its_bytes():
    with serving(answers={"/x": b"hello"}) as (address, _):
        assert b"hello" == fetch(f"{address}/x", bytes_max=5, seconds_max=PATIENCE_S, name="it")


@pytest.mark.parametrize("path", [DRIPPING, DRIPPING_HEADERS])
def test_an_answer_that_comes_drop_by_drop_is_given_up(path):
    with serving() as (address, _):
        assert "it gave no complete answer within 0.2 s." == refusal(address + path, 0.2)


def test_a_redirect_to_another_place_is_not_followed():
    with serving(answers={"*": b"secret"}) as (other, asked), serving(elsewhere=f"{other}/x") as (address, _):
        assert "it leads elsewhere: the server sends on to http://127.0.0.1, not followed." == refusal(
            address + REDIRECTING
        )
        assert [] == asked


def test_a_redirect_within_the_host_is_followed():
    with serving(elsewhere="/x", answers={"/x": b"here"}) as (address, _):
        assert b"here" == fetch(address + REDIRECTING, bytes_max=9, seconds_max=PATIENCE_S, name="it")


@pytest.mark.parametrize(
    ("url", "target", "is_refused"),
    [
        ("https://a/x", "/y", False),
        ("https://a/x", "https://a:443/y", False),
        ("http://a/x", "https://a/y", False),
        ("https://a/x", "http://a/y", True),
        ("https://a/x", "https://b/y", True),
        ("https://a/x", "//b/y", True),
        ("https://a/x", "https://a:8443/y", True),
        ("https://a/x", "file:///etc/passwd", True),
    ],
)
def test_a_redirect_may_lead_to_the_same_host_only(url, target, is_refused):
    if is_refused:
        with pytest.raises(IntakeError):
            refuse_other_host(url, target, name="it")
    else:
        refuse_other_host(url, target, name="it")
