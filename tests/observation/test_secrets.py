"""Credentials are taken out of whatever is printed."""

import pytest

from endive.observation.secrets import public_address, redact, secrets_in


def test_known_secrets_are_found_by_the_names_of_their_keys():
    properties = {
        "s3.secret-access-key": "abcd1234",
        "token": "tok-9",
        "uri": "postgresql://bob:pw99@host/db",
        "region": "eu-west-1",
    }

    assert {"abcd1234", "tok-9", "bob:pw99"} == set(secrets_in(properties))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("failed with abcd1234 twice", "failed with *** twice"),
        ("cannot open https://bob:pw@host/x", "cannot open https://***@host/x"),
        ("GET https://host/x?sig=abc&se=1 403", "GET https://host/x?*** 403"),
        ("secret_key: zzz, region eu", "secret_key: ***, region eu"),
        ("a\nb", "a b"),
    ],
)
def test_a_message_keeps_all_but_what_is_secret(text, expected):
    assert expected == redact(text, ("abcd1234",))


def test_an_address_is_written_down_without_user_and_query():
    assert "https://host/bucket/x" == public_address("https://u:p@host/bucket/x?sv=1&sig=s#f")
