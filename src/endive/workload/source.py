"""A named source of txns: when they come, what each does, and on which terms they retry.

The terms are carried here, and read by ``endive.transaction``, where the txn's life goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from endive.distributions import LatencyDistribution
from endive.errors import ConfigError
from endive.kernel import Floats, rule
from endive.rng import OPERATION, RUNTIME, TOUCHED_FILES, slot, stream_key, substream, uniform
from endive.transaction.transaction_values import TransactionDraft, TransactionTerms
from endive.vocabulary import EXPIRE_SNAPSHOTS, KINDS, N_KINDS
from endive.workload.arrivals import Arrivals, client_of
from endive.workload.choice import Choice, own_table
from endive.workload.picks import pick_index, tails_of
from endive.workload.trace import NOT_GIVEN

RUNTIME_COUNTER: Final = slot(0, RUNTIME, 0)
OPERATION_COUNTER: Final = slot(0, OPERATION, 0)
TOUCHED_FILES_COUNTER: Final = slot(0, TOUCHED_FILES, 0)


@rule
def draw_kind(tails: Floats, start: int, key: int) -> int:
    """Operation type of the txn with this key, by the N_KINDS tails of its source's weights."""
    return pick_index(tails, start, N_KINDS, uniform(key, OPERATION_COUNTER))


@rule
def first_of_job(index: int, commits_per_job: int) -> int:
    """Index of the first commit of the job that the commit ``index`` belongs to."""
    return index - index % commits_per_job


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One stream of txns with draws of its own: no other source changes what it draws."""

    name: str
    index: int  # position among the sources of the workload
    seed: int
    arrivals: Arrivals
    kind_weights: tuple[float, ...]  # by operation type, in the order of KINDS
    runtime: LatencyDistribution
    tables: Choice
    partitions: Choice | None  # None: tables have no partitions
    terms: TransactionTerms
    partitions_by_table: tuple[Choice, ...] = ()  # where tables differ in how many they have
    own_tables: tuple[int, ...] = ()  # by client, if each has a table of its own
    threads: int = 1  # groups of files that a job with several commits rewrites at a time

    key: int = field(init=False, repr=False)  # of its txns
    arrivals_key: int = field(init=False, repr=False)  # of its gaps, jitters and think times
    kind_tails: tuple[float, ...] = field(init=False, repr=False, compare=False)
    only_kind: int = field(init=False, repr=False, compare=False)  # NOT_GIVEN if there are several

    def __post_init__(self) -> None:
        weights = self.kind_weights
        if len(weights) != N_KINDS or min(weights) < 0.0 or not 0.0 < sum(weights) < float("inf"):
            raise ConfigError(
                f"source {self.name!r}: operation weights {weights}. Give {N_KINDS} numbers, "
                f"0 or above and not all 0, for {', '.join(KINDS)}."
            )
        possible = [kind for kind, weight in enumerate(weights) if weight > 0.0]
        object.__setattr__(self, "key", stream_key(self.seed, f"source/{self.name}"))
        object.__setattr__(self, "arrivals_key", stream_key(self.seed, f"source/{self.name}/arrivals"))
        object.__setattr__(self, "kind_tails", tails_of(weights))
        object.__setattr__(self, "only_kind", possible[0] if len(possible) == 1 else NOT_GIVEN)

    @property
    def is_built_in(self) -> bool:
        """Whether the compiled engine knows every part of it."""
        choices = [self.tables, *self.partitions_by_table]
        if self.partitions is not None:
            choices.append(self.partitions)
        return (
            self.arrivals.is_built_in
            and self.runtime.is_built_in
            and all(choice.selector.is_built_in for choice in choices)
        )

    def transaction_key(self, index: int) -> int:
        """Key of all that is drawn for the txn with this index within the source."""
        return substream(self.key, index)

    @property
    def commits_per_job(self) -> int:
        """Commits of one job, each a txn; 1 unless the source makes partial progress."""
        return self.arrivals.commits_per_job

    def next_arrival_us(self, index: int, previous_us: int, submitted_us: int = 0) -> int:
        """When the txn with this index is submitted, or NO_MORE; see ``Arrivals.next_us``."""
        if self.arrivals.clients:
            return self.arrivals.next_us(index, previous_us, key=self.arrivals_key, submitted_us=submitted_us)
        return self.arrivals.next_us(index, previous_us, key=self.arrivals_key)


def draw_transaction(source: Source, index: int, key: int) -> TransactionDraft:
    """Decide a txn: a cell its trace gives, a value that cannot be otherwise, or a draw from its key."""
    kind, runtime_us, table = source.only_kind, NOT_GIVEN, NOT_GIVEN
    trace = source.arrivals.trace
    if trace is not None:
        runtime_us, table = trace.runtimes_us[index], trace.tables[index]
        if trace.kinds[index] != NOT_GIVEN:
            kind = trace.kinds[index]
    if kind == NOT_GIVEN:
        kind = draw_kind(source.kind_tails, 0, key)
    job_key = key
    if source.commits_per_job > 1:
        job_key = source.transaction_key(first_of_job(index, source.commits_per_job))
        runtime_us = _draw_groups_us(source, index)
    elif runtime_us == NOT_GIVEN:
        runtime_us = source.runtime.sample_us(key, RUNTIME_COUNTER)
    touched = source.terms.touched_files
    if source.own_tables:
        table = int(own_table(source.own_tables, 0, client_of(index)))
    if table == NOT_GIVEN:
        tables_read, n_written = source.tables.tables(job_key)
    else:
        tables_read, n_written = (table,), 1
    return TransactionDraft(
        kind=kind,
        runtime_us=runtime_us,
        tables_read=tables_read,
        n_tables_written=n_written,
        partitions=_draw_partitions(source, tables_read, 0 if kind == EXPIRE_SNAPSHOTS else n_written, job_key),
        touched_files=0 if touched is None else touched.draw(uniform(job_key, TOUCHED_FILES_COUNTER)),
        job_key=job_key,
        group=index % source.commits_per_job,
        groups=source.commits_per_job,
    )


def _draw_groups_us(source: Source, index: int) -> int:
    """When a thread of a job has rewritten this group of files: the groups before it come first."""
    first = first_of_job(index, source.commits_per_job)
    group = index - first
    return sum(
        source.runtime.sample_us(source.transaction_key(first + earlier), RUNTIME_COUNTER)
        for earlier in range(group % source.threads, group + 1, source.threads)
    )


def _draw_partitions(
    source: Source, tables: tuple[int, ...], n_tables_changed: int, key: int
) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The partitions it touches of each table; an expiry changes none."""
    if source.partitions is None:
        return ()
    choices = [
        source.partitions_by_table[table] if source.partitions_by_table else source.partitions for table in tables
    ]
    return tuple(
        choice.partitions(position < n_tables_changed, key, position) for position, choice in enumerate(choices)
    )
