"""A real Azure protocol: the store is measured in Azurite, where that is installed (``npm install -g azurite``)."""

import base64
import hashlib
import hmac
import http.client
import shutil
import subprocess
import time
from collections.abc import Iterator
from email.utils import formatdate

import pytest
from tests.waiting import PATIENCE_S, free_port

from endive.errors import ObservationError
from endive.observation.measurement.probe_plan import ProbePlan
from endive.observation.measurement.store_probe import open_store, probe

ACCOUNT = "devstoreaccount1"  # of the emulator, like its key: both are published
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
API = "2021-08-06"
PLAN = ProbePlan(samples=3, swaps=8, provider="azure")

pytest.importorskip("obstore")


def create_container(port: int, name: str) -> None:
    moment = formatdate(usegmt=True)
    resource = f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    text = "PUT" + "\n" * 12 + f"x-ms-date:{moment}\nx-ms-version:{API}\n{resource}"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    headers = {"x-ms-date": moment, "x-ms-version": API, "Authorization": f"SharedKey {ACCOUNT}:{signature}"}
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("PUT", f"/{ACCOUNT}/{name}?restype=container", headers={**headers, "Content-Length": "0"})
    assert 201 == connection.getresponse().status


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("azurite is not installed")
    number, folder = free_port(), tmp_path_factory.mktemp("azurite")
    options = ["--silent", "--disableTelemetry", "--skipApiVersionCheck", "--location", str(folder)]
    server = subprocess.Popen([program, *options, "--blobPort", str(number)], stdout=subprocess.DEVNULL)
    try:
        end_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                create_container(number, "lake")
                break
            except OSError:
                assert time.monotonic() < end_s, "azurite does not listen"
                time.sleep(0.1)
        yield number
    finally:
        server.terminate()
        server.wait()


def options(port: int) -> dict[str, str]:
    return {"account_name": ACCOUNT, "account_key": KEY, "endpoint": f"http://127.0.0.1:{port}/{ACCOUNT}"}


def test_swaps_of_azure_are_measured_and_nothing_is_left(port):
    import obstore

    stores = open_store("az://lake/probe", options(port))

    measured = probe(stores, PLAN, seconds_max=60.0, progress=lambda done, total: None)

    assert [3] * 12 == [len(values) for values in measured.latencies_ms.values()]
    assert 8 * 5 == sum(len(step.success_ms) + len(step.refused_ms) for step in measured.swaps.values())
    assert [] == [entry["path"] for batch in obstore.list(stores.cleaned) for entry in batch]


def test_a_container_that_is_not_there_is_told_in_one_line(port):
    with pytest.raises(ObservationError, match=r"^there is no such bucket or container: "):
        probe(open_store("az://pond/probe", options(port)), PLAN, seconds_max=60.0, progress=lambda done, total: None)
