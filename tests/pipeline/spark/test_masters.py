"""Masters: those of this machine, those that cannot be reached, and those that do not answer."""

import os
import socket
import threading

import pytest

from endive.errors import EngineError
from endive.pipeline.spark import masters
from endive.pipeline.spark.masters import check_answer, check_reachable, local_cores, with_retries


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local", "local[1,4]"),
        ("local[2]", "local[2,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2,1]", "local[2,1]"),
        ("spark://a:7077", "spark://a:7077"),
    ],
)
def test_a_local_master_tries_a_task_as_often_as_a_cluster(master, expected):
    assert expected == with_retries(master)


@pytest.mark.parametrize(
    ("master", "cores"),
    [
        ("local", 1),
        ("local[3]", 3),
        ("local[3,4]", 3),
        ("local[*,4]", os.cpu_count()),
        (None, os.cpu_count()),
        ("local-cluster[2,3,1024]", 6),
        ("spark://a:7077", None),
        ("", None),
    ],
)
def test_cores_of_a_master_of_this_machine_are_known(master, cores):
    assert cores == local_cores(master)


@pytest.fixture
def deaf():
    """A port on which nobody listens, and on which nobody else can."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_told_at_once(deaf, scheme):
    master = f"{scheme}://127.0.0.1:{deaf}"

    with pytest.raises(EngineError, match=f"--master {master} cannot be reached: 127.0.0.1:.* refused"):
        check_reachable(master)


@pytest.fixture
def silent(monkeypatch):
    """The port of a server that takes connections and never says anything."""
    monkeypatch.setattr(masters, "ANSWER_TIMEOUT_S", 0.2)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.mark.parametrize(("scheme", "what"), [("sc", "a server of Spark Connect"), ("spark", "a master of Spark")])
def test_a_master_that_listens_and_says_nothing_is_given_up(silent, scheme, what):
    for needed in ("grpc", "grpc_status") if scheme == "sc" else ():
        pytest.importorskip(needed)
    master = f"{scheme}://127.0.0.1:{silent}"

    told = rf"^--master {master} is reached, but does not answer within 0.2 s. Is it {what}\?$"
    with pytest.raises(EngineError, match=told):
        check_answer(master)


def test_a_master_that_hangs_up_has_answered():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def hang_up():
            server.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        check_answer(f"spark://127.0.0.1:{server.getsockname()[1]}")
        thread.join()


def test_one_of_several_masters_is_enough(deaf):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        check_reachable(f"spark://127.0.0.1:{deaf},127.0.0.1:{server.getsockname()[1]}")
        check_reachable(f"sc://127.0.0.1:{server.getsockname()[1]}/;user_id=me")


@pytest.mark.parametrize("master", ["loacl[2]", "http://x", "local[x]", "local[2"])
def test_a_master_that_is_none_is_told(master):
    with pytest.raises(EngineError, match=r"is no master\. Give local"):
        check_reachable(master)
