"""The server answers its own page only."""

import asyncio

import pytest
from tests.explore.conftest import ORIGIN, TOKEN, WRITERS

from endive.explore.guard import Guard
from endive.explore.limits import BODY_BYTES_MAX


def test_the_page_is_at_the_address_with_the_token(client):
    answer = client.get(f"/{TOKEN}/")

    assert 200 == answer.status_code
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "no-referrer" == answer.headers["Referrer-Policy"]


ELSEWHERE = ("/", "/api/starts", "/wrong/", "/wrong/api/starts", f"/{TOKEN}", f"/{TOKEN}x/")
NO_FILES = ("..%2fapp.py", "%2e%2e/app.py", "../guard.py", "index.html.bak", "..")


@pytest.mark.parametrize("path", [*ELSEWHERE, *(f"/{TOKEN}/{name}" for name in NO_FILES)])
def test_no_other_address_and_no_file_but_the_page_is_answered(client, path):
    assert 404 == client.get(path).status_code


@pytest.mark.parametrize(
    ("code", "headers"),
    [
        *((421, {"Host": host}) for host in ("evil.example:8765", "127.0.0.1", "127.0.0.1:80")),
        (421, {"Host": "127.0.0.1.evil.example:8765"}),
        (403, {"Sec-Fetch-Site": "cross-site"}),
        (200, {"Host": "localhost:8765", "Origin": "http://localhost:8765"}),
    ],
)
def test_the_page_is_given_to_its_own_names_and_not_to_another_site(client, code, headers):
    del client.headers["Origin"]

    assert code == client.get(f"/{TOKEN}/", headers=headers).status_code


@pytest.mark.parametrize(
    ("code", "origin"),
    [
        *((403, at) for at in ("http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:80")),
        (403, None),
        (200, ORIGIN),
    ],
)
def test_only_the_own_origin_may_ask(client, code, origin):
    del client.headers["Origin"]
    headers = {"Origin": origin} if origin else {}

    assert code == client.post(f"/{TOKEN}/api/open", json={"start": WRITERS}, headers=headers).status_code


def test_a_server_that_ends_answers_whoever_has_not_sent_a_question():
    sent = []

    async def waiting(scope, receive, send):
        await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    async def ended():
        guard = Guard(waiting, token=TOKEN, port=8765)
        headers = [(b"host", b"127.0.0.1:8765"), (b"origin", b"http://127.0.0.1:8765")]
        scope = {"type": "http", "method": "POST", "path": f"/{TOKEN}/api/ask", "headers": headers}
        task = asyncio.create_task(guard(scope, send, send))
        await asyncio.sleep(0)
        task.cancel()
        await task

    asyncio.run(ended())

    assert 503 == sent[0]["status"]
    assert "default-src 'none'" in dict(sent[0]["headers"])[b"content-security-policy"].decode()


def test_a_large_body_is_refused_before_it_is_read(client):
    answer = client.post(f"/{TOKEN}/api/open", content=b"x" * (BODY_BYTES_MAX + 1))

    assert 413 == answer.status_code
    assert f"{BODY_BYTES_MAX:,}" in answer.text
