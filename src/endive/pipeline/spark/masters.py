"""Masters: which there are, whether they can be reached, and whether they answer.

The session itself is made in ``endive.pipeline.spark.session``.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from typing import Final

from endive.errors import EngineError

REACH_TIMEOUT_S: Final = 5.0
ANSWER_TIMEOUT_S: Final = 30.0  # of a server that may have just been started
TASK_FAILURES_MAX: Final = 4  # as on a cluster; Spark's local mode would give up after one
CONNECT: Final = "sc://"
STANDALONE: Final = "spark://"
STANDALONE_PORT: Final = 7077

# A frame of Spark's transport (TransportFrameDecoder): its length, the type of a StreamRequest, and a name.
_NAME: Final = b"/files/endive"
_FILE_REQUEST: Final = struct.pack(">qbi", 8 + 1 + 4 + len(_NAME), 6, len(_NAME)) + _NAME


def with_retries(master: str) -> str:
    """``local[N]`` with as many tries per task as a cluster has; other masters as they are."""
    if master == "local":
        return f"local[1,{TASK_FAILURES_MAX}]"
    match = re.fullmatch(r"local\[([0-9]+|\*)\]", master)
    return f"local[{match[1]},{TASK_FAILURES_MAX}]" if match else master


def check_reachable(master: str) -> None:
    """Raise EngineError if ``master`` is no master, or one of a known address that does not answer."""
    if master.startswith(STANDALONE):
        addresses = master.removeprefix(STANDALONE).split(",")
        port_default = STANDALONE_PORT
    elif master.startswith(CONNECT):
        addresses = [re.split(r"[/;]", master.removeprefix(CONNECT))[0]]
        port_default = 15002
    elif re.fullmatch(r"local(\[[0-9*]+(,[0-9]+)?\])?|local-cluster\[.*\]|yarn|k8s://.+", master):
        return
    else:
        raise EngineError(
            f"--master {master} is no master. Give local[N], spark://host:7077, sc://host:15002, k8s://.. or yarn."
        )
    failures = [failure for address in addresses if (failure := _failure(address, port_default))]
    if len(failures) == len(addresses):
        raise EngineError(f"--master {master} cannot be reached: {'; '.join(failures)}.")


def check_answer(master: str) -> None:
    """Raise EngineError if what listens at ``master`` takes connections and says nothing."""
    if master.startswith(CONNECT):
        is_answered, what = _is_connect_answered(master), "a server of Spark Connect"
    elif master.startswith(STANDALONE):
        addresses = master.removeprefix(STANDALONE).split(",")
        is_answered, what = any(_is_rpc_answered(address) for address in addresses), "a master of Spark"
    else:
        return
    if not is_answered:
        raise EngineError(
            f"--master {master} is reached, but does not answer within {ANSWER_TIMEOUT_S:g} s. Is it {what}?"
        )


def _is_connect_answered(master: str) -> bool:
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        return True  # what is missing is told by PySpark, in its own words
    with DefaultChannelBuilder(master).toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=ANSWER_TIMEOUT_S)
        except grpc.FutureTimeoutError:
            return False
    return True


def _is_rpc_answered(address: str) -> bool:
    """Whether a master says anything, or hangs up, when it is asked for a file it does not have.

    Spark itself would wait a minute for an answer to its registration, and then for a job that never starts.
    """
    host, port = _host_and_port(address, STANDALONE_PORT)
    try:
        with socket.create_connection((host, int(port)), timeout=REACH_TIMEOUT_S) as connection:
            connection.settimeout(ANSWER_TIMEOUT_S)
            connection.sendall(_FILE_REQUEST)
            connection.recv(1)
    except TimeoutError:
        return False
    except OSError:
        return True  # it hung up; or cannot be reached, which is told elsewhere
    return True


def _host_and_port(address: str, port_default: int) -> tuple[str, str]:
    host, _, port = address.rpartition(":") if ":" in address else (address, "", str(port_default))
    return host, port


def _failure(address: str, port_default: int) -> str | None:
    host, port = _host_and_port(address, port_default)
    if not host or not port.isdecimal():
        return f"'{address}' is not host:port"
    try:
        socket.create_connection((host, int(port)), timeout=REACH_TIMEOUT_S).close()
    except OSError as error:
        return f"{host}:{port} says: {error.strerror or error}"
    return None


def local_cores(master: str | None) -> int | None:
    """Tasks that run at once on a master of this machine; None if it is elsewhere."""
    if master is None or (match := re.match(r"local\[\*", master)):
        return os.cpu_count() or 1
    if match := re.match(r"local-cluster\[(\d+),(\d+)", master):
        return int(match[1]) * int(match[2])
    if match := re.match(r"local\[(\d+)", master):
        return int(match[1])
    return 1 if master == "local" else None
