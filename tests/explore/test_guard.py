"""The server answers its own page only."""

from __future__ import annotations

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


@pytest.mark.parametrize("path", ["/", "/api/starts", "/wrong/", "/wrong/api/starts", f"/{TOKEN}", f"/{TOKEN}x/"])
def test_no_other_address_is_answered(client, path):
    assert 404 == client.get(path).status_code


@pytest.mark.parametrize("host", ["evil.example:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8765"])
def test_a_host_header_of_another_name_is_turned_away(client, host):
    answer = client.get(f"/{TOKEN}/", headers={"Host": host})

    assert 421 == answer.status_code


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:80"])
def test_an_origin_of_another_page_is_turned_away(client, origin):
    answer = client.post(f"/{TOKEN}/api/open", json={"start": WRITERS}, headers={"Origin": origin})

    assert 403 == answer.status_code


def test_a_question_without_an_origin_is_turned_away(client):
    del client.headers["Origin"]

    assert 403 == client.post(f"/{TOKEN}/api/open", json={"start": WRITERS}).status_code


def test_a_request_that_another_site_caused_is_turned_away(client):
    del client.headers["Origin"]

    assert 403 == client.get(f"/{TOKEN}/", headers={"Sec-Fetch-Site": "cross-site"}).status_code


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


def test_localhost_is_this_machine_too(client):
    answer = client.get(f"/{TOKEN}/", headers={"Host": "localhost:8765", "Origin": "http://localhost:8765"})

    assert 200 == answer.status_code


def test_a_large_body_is_refused_before_it_is_read(client):
    answer = client.post(f"/{TOKEN}/api/open", content=b"x" * (BODY_BYTES_MAX + 1))

    assert 413 == answer.status_code
    assert f"{BODY_BYTES_MAX:,}" in answer.text


@pytest.mark.parametrize("name", ["..%2fapp.py", "%2e%2e/app.py", "../guard.py", "index.html.bak", ".."])
def test_no_file_but_the_page_is_served(client, name):
    answer = client.get(f"/{TOKEN}/{name}")

    assert 404 == answer.status_code


def test_the_own_origin_may_ask(client):
    answer = client.post(f"/{TOKEN}/api/open", json={"start": WRITERS}, headers={"Origin": ORIGIN})

    assert 200 == answer.status_code
