"""What the benchmarks share: an engine that runs once under a stopwatch, a process of its own, a table of text.

Time is CPU time of the process, so that a busy neighbour counts less; memory is the largest resident size the operating
system saw. What starts processes itself is watched from outside, with wall time beside CPU time.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
Config = dict[str, Any]
Figures = dict[str, Any]
BEST_OF = "benchmarks.measuring:best_of"  # for a process of its own


def run_once(engine: str, config: Config, seed: int = 1) -> Figures:
    """Make the engine and run it into a sink that keeps no txn; what it took and what it did.

    The reference engine runs without its observer, which would flatter the compiled engine: which has it in its loop.
    """
    from endive.config import parse_config
    from endive.results.provenance import Provenance
    from endive.simulation.build import OwnParts, build_parts
    from endive.simulation.compiled import CompiledEngine
    from endive.simulation.reference import ReferenceEngine
    from endive.simulation.simulation import Simulation

    resolved = parse_config(config)
    parts = build_parts(resolved, seed, OwnParts())
    sink = Simulation(resolved).new_sink(keep_transactions=False)
    sink.start(Provenance(config_hash=resolved.config_hash(), seed=seed, engine=engine))
    start_s = time.process_time()
    runner: CompiledEngine | ReferenceEngine
    if engine == "compiled":
        runner = CompiledEngine(parts, sink)
    else:
        runner = ReferenceEngine(parts, sink, is_observed=False)
    runner.run()
    cpu_s = time.process_time() - start_s
    figures = {"cpu_s": cpu_s, "txns": runner.txns, "fingerprint": sink.finish().fingerprint}
    if isinstance(runner, CompiledEngine):
        return {**figures, "events": runner.events, "in_flight_max": runner.in_flight_max}
    return {**figures, "steps": runner.steps}


def best_of(count: int, engine: str, config: Config) -> Figures:
    """The quickest of ``count`` runs, which must agree on the result; compiled code is loaded before the first."""
    warm_up(engine)
    before_mb = peak_mb()
    runs = [run_once(engine, config) for _ in range(count)]
    assert len({run["fingerprint"] for run in runs}) == 1, "one configuration and one seed gave two results"
    best = min(runs, key=lambda run: float(run["cpu_s"]))
    return {**best, "runs": count, "peak_mb": peak_mb(), "own_mb": peak_mb() - before_mb}


def warm_up(engine: str) -> None:
    """A second of simulated time: everything is imported, compiled or loaded."""
    run_once(engine, {"simulation": {"duration_ms": 1_000.0}, "transaction": {"inter_arrival": {"scale": 100.0}}})


def peak_mb() -> float:
    """The most memory this process has had so far."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB here
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def in_own_process(function: str, *arguments: Any, **environment: str) -> Any:
    """Call ``module:name`` in a process of its own and read its answer; arguments and answer are JSON."""
    module, _, name = function.partition(":")
    answer = f"json.dumps(getattr(importlib.import_module({module!r}), {name!r})(*json.loads(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", f"import importlib, json, sys; print({answer})", json.dumps(arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def watched(command: Sequence[str]) -> Figures:
    """Run a command; seconds, CPU seconds and largest memory of it and all it starts, looked at ten times a second.

    CPU time and memory are Linux's; elsewhere they are 0.
    """
    start_s = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    peak_bytes = driver_bytes = 0
    cpu_s: dict[int, float] = {}
    while process.poll() is None:
        found = process_tree(process.pid)
        peak_bytes = max(peak_bytes, sum(size for size, _ in found.values()))
        driver_bytes = max(driver_bytes, found.get(process.pid, (0, 0.0))[0])
        cpu_s |= {pid: seconds for pid, (_, seconds) in found.items()}
        time.sleep(0.1)
    return {
        "wall_s": time.perf_counter() - start_s,
        "cpu_s": sum(cpu_s.values()),
        "memory_gb": peak_bytes / 1e9,
        "driver_gb": driver_bytes / 1e9,
        "is_ok": process.returncode == 0,
    }


def process_tree(root: int) -> dict[int, tuple[int, float]]:
    """Resident bytes and CPU seconds of a process and everything it started, by process."""
    children: dict[int, list[int]] = {}
    usage: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").iterdir() if Path("/proc/self/stat").exists() else ():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        pid = int(entry.name)
        children.setdefault(int(fields[1]), []).append(pid)
        ticks = int(fields[11]) + int(fields[12])
        usage[pid] = (int(fields[21]) * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK"))
    waiting, found = [root], {}
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        if pid in usage:
            found[pid] = usage[pid]
    return found


def machine() -> str:
    """What was measured on, and how quiet it was."""
    import numba
    import numpy

    load = os.getloadavg()[0]
    busy = "; BUSY: no figure below is worth quoting" if load > 1.0 else ""
    return (
        f"{_processor()}, {os.cpu_count()} cores, load {load:.1f}{busy}\n"
        f"Python {platform.python_version()}, numba {numba.__version__}, numpy {numpy.__version__}"
    )


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text; the first is flush left, figures flush right."""
    cells = [list(headings), *([str(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    lines = []
    for row in cells:
        first, rest = row[0].ljust(widths[0]), zip(row[1:], widths[1:], strict=True)
        lines.append("  ".join([first, *(cell.rjust(width) for cell, width in rest)]).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)
