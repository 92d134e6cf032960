"""A live page with many clients, whose worker processes are killed: everybody is answered, in words, and in turn.

python -m verification.soak_page --minutes 6
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from verification.chaos import descendants

CLIENTS: Final = 50
KILL_EVERY_S: Final = 5.0
WAIT_S_MAX: Final = 120.0  # for a first answer
SHORT: Final = {"simulation.duration_ms": "2min", "simulation.warmup_ms": "10s", "simulation.cooldown_ms": "10s"}
START: Final = "built-in/twenty_writers"


def ask(address: SplitResult, client: int, number: int) -> tuple[str, float]:
    """Ask for a first answer as a page does, and leave; what came, and after how long."""
    begin_s = time.monotonic()
    connection = http.client.HTTPConnection(address.netloc, timeout=2 * WAIT_S_MAX)
    headers = {"Origin": f"http://{address.netloc}", "X-Endive-Page": f"page {client}"}
    changes = {**SHORT, "simulation.seed": str(1000 * client + number)}
    try:
        connection.request("POST", f"{address.path}api/ask", json.dumps({"start": START, "changes": changes}), headers)
        line = connection.getresponse().readline()
        event: dict[str, Any] = json.loads(line.removeprefix(b"data: ")) if line else {"type": "nothing"}
    except (OSError, ValueError, http.client.HTTPException) as error:
        event = {"type": type(error).__name__}
    finally:
        connection.close()
    return event["type"], time.monotonic() - begin_s


def is_child(pid: int, parent: int) -> bool:
    """Whether a process is a child of that one, and not of one of its children."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) == parent
    except (OSError, ValueError):
        return True  # it has ended


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=6.0)
    options = parser.parse_args()
    command = [sys.executable, "-m", "endive.cli.main", "explore", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = urlsplit(server.stdout.readline().rpartition(" ")[2].strip())
    ask(address, 0, 0)  # until the engine is there
    end_s = time.monotonic() + 60.0 * options.minutes
    kinds: Counter[str] = Counter()
    waits: list[float] = []

    def client(own: int) -> None:
        number = 0
        while time.monotonic() < end_s:
            number += 1
            kind, took_s = ask(address, own, number)
            kinds[kind] += 1
            waits.append(took_s)

    threads = [threading.Thread(target=client, args=(own,), daemon=True) for own in range(1, CLIENTS + 1)]
    for thread in threads:
        thread.start()
    killed = 0
    while time.monotonic() < end_s:
        time.sleep(KILL_EVERY_S)
        victims = [
            pid for pid, told in descendants(server.pid) if "forkserver" in told and not is_child(pid, server.pid)
        ]
        if victims:
            os.kill(random.choice(victims), signal.SIGKILL)
            killed += 1
    for thread in threads:
        thread.join(2 * WAIT_S_MAX)
    is_alive = server.poll() is None
    server.terminate()
    server.wait(60)
    late = sum(wait > WAIT_S_MAX for wait in waits)
    unkind = {kind: count for kind, count in kinds.items() if kind not in ("answer", "failed")}
    print(
        f"{len(waits):,} asks of {CLIENTS} clients beside {killed} killed processes: {dict(kinds)}, the longest waited "
        f"{max(waits, default=0.0):.1f} s, {late} longer than {WAIT_S_MAX:.0f} s; the server "
        f"{'lives' if is_alive else 'DIED'}"
    )
    return 1 if late or unkind or not is_alive else 0


if __name__ == "__main__":
    sys.exit(main())
