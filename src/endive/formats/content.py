"""The tables of a simulation as the reference engine's server holds them: what a catalog keeps and does not look into.

A commit is installed here, by the rules of the tables' format. When it may be, is the catalog's business
(``endive.catalog.state``).
"""

from collections.abc import Sequence
from typing import NamedTuple

from endive.catalog.snapshot import IntentionRecord
from endive.formats import rules
from endive.formats.file_history import FileHistory
from endive.formats.nesting import FormatSettings, TableState
from endive.record import copied


class ShownTable(NamedTuple):
    """A table's content in a snapshot."""

    state: TableState  # a copy of its own, which nobody changes
    files: FileHistory | None  # of what happened up to this version; None if nobody asks
    snapshot_times_us: Sequence[int] | None  # when each was installed, later ones too; None if nobody asks


class Tables:
    """All tables, and what their format does to them. Passes itself to the rules as the world: it has a ``format``."""

    def __init__(
        self,
        num_tables: int,
        settings: FormatSettings,
        *,
        initial_snapshots: int = 0,
        initial_manifests: int = 0,
        data_files: int = 0,
        notes_files: bool = False,
        has_snapshot_times: bool = False,
    ) -> None:
        self.format = settings
        self.initial_snapshots = initial_snapshots  # older than any time that is kept
        self.data_files = data_files  # of every table; 0: not modelled
        self.has_snapshot_times = has_snapshot_times  # whether anybody asks how old a snapshot is
        self.states = [TableState(version=initial_snapshots, is_delta=settings.is_delta) for _ in range(num_tables)]
        for state in self.states:
            state.iceberg.manifests = initial_manifests
            rules.begin_table(self, state)
        self.notes_files = notes_files or data_files > 0  # whether what happens to files and partitions is remembered
        self._files = [FileHistory() if self.notes_files else None for _ in range(num_tables)]
        self._times_us: list[list[int] | None] = [[] if has_snapshot_times else None for _ in range(num_tables)]

    @property
    def inlined_bytes(self) -> int:
        """What they add to the catalog object before the first commit."""
        return sum(rules.inlined_bytes(self, state) for state in self.states)

    def show(self, table: int) -> ShownTable:
        """A table as a snapshot shows it."""
        return ShownTable(copied(self.states[table]), self._files[table], self._times_us[table])

    def install(self, intention: IntentionRecord, now_us: int) -> int:
        """A commit is the newest state of the tables it writes; by how many bytes the catalog object grows."""
        grown_bytes = 0
        for position, table in enumerate(intention.tables[: intention.n_written]):
            state, times_us, history = self.states[table], self._times_us[table], self._files[table]
            grown_bytes += rules.install(self, state, intention.operation, intention.plans[position])
            if times_us is not None and rules.installs_snapshot(intention.operation):
                times_us.append(now_us)
            if history is not None and intention.touched:
                history.note(intention.touched[position], state.version)
        return grown_bytes

    def undoable(self, intention: IntentionRecord) -> int:
        """Compactions since the base of a commit that may be undone for it; 0 if something else was committed."""
        table = intention.tables[0]
        return rules.undoable(self, self.states[table], intention.base.tables[table].state)

    def undo(self, intention: IntentionRecord) -> None:
        """They are undone."""
        table = intention.tables[0]
        state, history, base = self.states[table], self._files[table], intention.base.tables[table].state
        rules.undo(state, base)
        if history is not None:
            history.undo(base.version, state.version + 1)
