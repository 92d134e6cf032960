"""Which change helps: levers one at a time, the smallest step that is enough, and pairs against different causes.

Every change is measured under common random numbers. The levers are those of ``levers``; what a change leaves to be
mended, and so what is worth pairing with it, is asked of ``causes``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from endive.answers.advice.causes import Causes, causes_of
from endive.answers.advice.levers import LATENESS, Change, Lever, change_of, changes_of
from endive.answers.advice.offers import Offer, Values
from endive.answers.cases import Cases, assess
from endive.answers.compare import difference_of
from endive.answers.estimates import estimate_of, judge_samples, pooled_figures
from endive.answers.length import long_enough
from endive.answers.price import usd_per_commit
from endive.answers.replicate import Replicator
from endive.answers.run_answer import RunAnswer
from endive.answers.run_count import are_too_few, may_double, take_enough
from endive.answers.sample import Sample
from endive.answers.variation import Base
from endive.answers.warnings import Warned, notes_as_warnings
from endive.config import SimulationConfig
from endive.config.availability import AVAILABLE, HYPOTHETICAL, NEEDS
from endive.config.slo import objective_of
from endive.errors import ObjectiveError
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Estimate, Subject, Verdict
from endive.objectives.names import ALL
from endive.objectives.tree import Constant

SEEDS: Final = 16
SEEDS_MOST: Final = 64  # of a change that would meet the objective, if only that could be told
TXNS_MOST: Final = 4_000_000  # of all its runs
TOLD: Final = 3  # changes that get more seeds
PAIRED: Final = 2  # of the best levers
PARTNERS: Final = 6  # of each
NAMED: Final = 3
_OUTCOMES: Final = {MET: 0, CANNOT_TELL: 1, NOT_MET: 2}
_HAD: Final = {AVAILABLE: 0, NEEDS: 1, HYPOTHETICAL: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What one change, or two together, would do."""

    words: str
    levers: tuple[Lever, ...]
    keys: Values
    verdict: Verdict
    found: Estimate  # of the figure that is advised on
    effect: Estimate  # on that figure, against the configuration as it is
    gain: float  # the effect, counted towards the objective
    seeds: int
    requests_per_commit: float | None
    usd_per_1000_commits: float | None

    @property
    def gives_up(self) -> str:
        """Return what it costs those who use the table."""
        return "; ".join(lever.gives_up for lever in self.levers)

    @property
    def availability(self) -> str:
        """Return whether it can be had, and how."""
        return "; ".join(lever.availability for lever in self.levers)

    @property
    def effort(self) -> tuple[int, int, int]:
        """Return what it takes, to be compared: whether it can be had, how many changes, how deep the deepest goes."""
        had = max((_HAD[lever.had] for lever in self.levers), default=0)
        return had, max((lever.effort for lever in self.levers), default=0), len(self.levers)

    @property
    def helps(self) -> bool:
        """Return whether it surely brings the figure closer to the objective."""
        low, high = self.effect.low, self.effect.high
        return self.gain > 0.0 and low is not None and high is not None and (low > 0.0 or high < 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """The configuration as it is, and every change that was tried, best first."""

    objective: str
    subject: Subject
    now: Advice
    advice: tuple[Advice, ...]
    simulations: int
    seeds: int
    why: tuple[str, ...] = ()  # of the configuration as it is
    warnings: tuple[Warned, ...] = ()
    cases: tuple[Cases, ...] = ()

    @property
    def enough(self) -> tuple[Advice, ...]:
        """Return the changes that meet the objective, the least first."""
        return tuple(advice for advice in self.advice if advice.verdict.outcome == MET)

    @property
    def helpful(self) -> tuple[Advice, ...]:
        """Return the changes that bring the figure closer to the objective; surely, if nothing has to change."""
        if self.now.verdict.outcome == MET:
            return tuple(advice for advice in self.advice if advice.helps)
        return tuple(advice for advice in self.advice if advice.gain > 0.0 or advice in self.enough)


def advise_on(
    base: Base,
    *,
    slo: str | None = None,
    levers: tuple[str, ...] | None = None,
    seeds: int = SEEDS,
    with_hypothetical: bool = False,
    replicator: Replicator | None = None,
) -> Advised:
    """Try the levers and rank them: what meets the objective first, and of that what takes the least."""
    base = long_enough(base, slo)
    objective = objective_of(base.config, slo)
    changes = changes_of(base, levers, with_hypothetical=with_hypothetical)
    if not changes:
        raise ObjectiveError("No lever applies to this configuration. Choose others with --levers.")
    with replicator or Replicator() as running:
        asked = _Asked(base, slo, seeds, running)
        if levers is None and asked.subject.field.path[0] not in ("freshness_ms", "stale_share"):
            changes = [change for change in changes if change.lever.removes != LATENESS]
        enough = len(take_enough(running, base.config, objective)) if may_double(asked.before) else seeds
        now = asked.advice((), base.config, "as it is", {}, max(seeds, enough))
        running.run_all([(change.config, seed) for change in changes for seed in asked.seeds])
        singles = _smallest(asked, [(change, asked.of(change)) for change in changes])
        told = _choose_shown(asked, _rank([advice for _, advice in singles]))
        if now.verdict.outcome != MET and all(advice.verdict.outcome != MET for advice in told):
            told += _pairs(asked, singles)
        assessment = assess(base.config, objective, asked.before, running)
        return Advised(
            objective=objective.text,
            subject=asked.subject,
            now=now,
            advice=_rank(_choose_shown(asked, _rank(told))),
            simulations=running.simulations,
            seeds=seeds,
            why=tuple(RunAnswer(base.config, tuple(asked.before), objective, "").why),
            warnings=(*assessment.warnings, *notes_as_warnings(base.notes[1:])),
            cases=assessment.cases,
        )


class _Asked:
    """What every change is asked: the figure that is farthest from the objective, and its direction."""

    def __init__(self, base: Base, slo: str | None, count: int, replicator: Replicator) -> None:
        self.base, self.slo, self.replicator = base, slo, replicator
        first = base.config.simulation.seed
        self.seeds = range(first, first + count)
        self.before = replicator.take(base.config, count)
        part = judge_samples(objective_of(base.config, slo), self.before).decisive[0]
        is_upward = (part.comparison.sign[0] == ">") != isinstance(part.comparison.left, Constant)
        self.subject, self.sign = part.subject, 1.0 if is_upward else -1.0

    def of(self, change: Change) -> Advice:
        return self.advice((change.lever,), change.config, change.offer.words, change.offer.keys)

    def advice(
        self, levers: tuple[Lever, ...], config: SimulationConfig, words: str, keys: Values, count: int | None = None
    ) -> Advice:
        after = self.samples(config, count)
        effect = difference_of(self.before, after[: len(self.seeds)], self.subject)
        figures = pooled_figures(after, ALL, "")
        usd = usd_per_commit(config, figures)
        return Advice(
            words=words,
            levers=levers,
            keys=keys,
            verdict=judge_samples(objective_of(config, self.slo), after),
            found=estimate_of(after, self.subject),
            effect=effect,
            gain=self.sign * (effect.value or 0.0),
            seeds=len(after),
            requests_per_commit=figures["requests"]["per_committed_txn"],
            usd_per_1000_commits=None if usd is None else 1000.0 * usd,
        )

    def samples(self, config: SimulationConfig, count: int | None = None) -> list[Sample]:
        return self.replicator.take(config, count or len(self.seeds))


# --- the smallest step --------------------------------------------------------------------------------


def _smallest(asked: _Asked, singles: list[tuple[Change, Advice]]) -> list[tuple[Change, Advice]]:
    """A lever with steps that meets the objective is offered with the smallest step that does, and no larger one."""
    smallest: list[tuple[Change, Advice]] = []
    done: set[tuple[str, str | None]] = set()
    for change, advice in singles:
        graded = change.offer.graded
        if _family(change) in done:
            continue
        if graded is not None:
            advice = _surely(asked, advice)
        if graded is None or advice.verdict.outcome != MET:
            smallest.append((change, advice))
            continue
        done.add(_family(change))
        best, low, high = (change, advice), graded.now, graded.step
        while high - low > 1:
            middle = (low + high) // 2
            tried = change_of(asked.base, change.lever, graded.offer(middle))
            answer = None if tried is None else _surely(asked, asked.of(tried))
            if tried is not None and answer is not None and answer.verdict.outcome == MET:
                best, high = (tried, answer), middle
            else:
                low = middle
        smallest.append(best)
    return smallest


def _family(change: Change) -> tuple[str, str | None]:
    """Return what several strengths of one lever have in common."""
    return change.lever.name, change.offer.aims_at


# --- pairs --------------------------------------------------------------------------------------------


def _pairs(asked: _Asked, singles: Sequence[tuple[Change, Advice]]) -> list[Advice]:
    """Return levers, each with those that remove what it leaves: another cause than its own.

    Those that take the least are paired first, and no more once two of them are enough.
    """
    order = {advice.words: place for place, advice in enumerate(_rank([advice for _, advice in singles]))}
    efforts = {advice.words: advice.effort for _, advice in singles}
    by_rank = sorted((change for change, _ in singles), key=lambda change: order[change.offer.words])
    helpful = {advice.words for _, advice in singles if advice.helps}
    best = [change for change in by_rank if change.offer.words in helpful][:PAIRED]
    firsts = {change.offer.words: change for change in (*_aim(asked, singles), *best)}
    pairs: dict[str, Advice] = {}
    for change in sorted(firsts.values(), key=lambda change: efforts[change.offer.words]):
        left = causes_of(asked.replicator, change.config, asked.subject, asked.sign, asked.samples(change.config))

        def cost(other: Change) -> tuple[object, ...]:
            return efforts[other.offer.words], order[other.offer.words]

        for pair in _find_partners(asked, change, _in_turn(left, sorted(by_rank, key=cost))):
            levers = (change.lever, pair.lever)
            pairs.setdefault(
                pair.config.config_hash(), asked.advice(levers, pair.config, pair.offer.words, pair.offer.keys)
            )
        if any(advice.verdict.holds and advice.helps for advice in pairs.values()):
            break
    return list(pairs.values())


def _aim(asked: _Asked, singles: Sequence[tuple[Change, Advice]]) -> list[Change]:
    """Return one lever of each sort that suits the causes as they are now, whether or not it helps alone."""
    now = causes_of(asked.replicator, asked.base.config, asked.subject, asked.sign, asked.before)
    suited = sorted(singles, key=lambda item: (now.rank(item[0].lever.removes, item[0].offer.aims_at), item[1].effort))
    sorts: dict[str, Change] = {}
    for change, _ in suited:
        if change.lever.removes in now.remedies:
            sorts.setdefault(change.lever.removes, change)
    return list(sorts.values())


def _in_turn(left: Causes, others: Sequence[Change]) -> list[Change]:
    """Return the first change against each cause that is left, then the second against each, and so on.

    Which remedy it takes cannot be told from a failure: retries run out because there are few of them, because others
    are many, or because an attempt takes long.
    """
    turns: Counter[int] = Counter()
    ranked = []
    for other in others:
        cause = left.rank(other.lever.removes, other.offer.aims_at)
        is_aimed = cause < len(left.rivals) + len(left.remedies)
        ranked.append((not is_aimed, turns[cause], cause, other))
        turns[cause] += 1
    return [other for *_, other in sorted(ranked, key=lambda item: item[:3])]


def _find_partners(asked: _Asked, one: Change, others: Sequence[Change]) -> list[Change]:
    """Return one change together with the first few others, of each lever the first strength."""
    partners: dict[tuple[str, str | None], Change] = {}
    for other in others:
        if other.lever.name == one.lever.name or _family(other) in partners or len(partners) == PARTNERS:
            continue
        words = f"{one.offer.words} + {other.offer.words}"
        offer = Offer(words, {**one.offer.keys, **other.offer.keys})
        pair = change_of(asked.base, other.lever, offer)
        if pair is not None:
            partners[_family(other)] = pair
    return list(partners.values())


# --- order --------------------------------------------------------------------------------------------


def _choose_shown(asked: _Asked, ranked: Sequence[Advice]) -> list[Advice]:
    """Return the first few that may meet the objective, with as many seeds as it takes to tell."""
    shown = list(ranked)
    hopeful = [place for place, advice in enumerate(ranked) if advice.verdict.outcome != NOT_MET and advice.helps]
    for place in hopeful[:TOLD]:
        shown[place] = _surely(asked, shown[place])
        if shown[place].verdict.outcome == MET:
            break
    return shown


def _surely(asked: _Asked, advice: Advice) -> Advice:
    """The same with more seeds, while its estimate meets the objective and that cannot be told, or runs differ."""
    if advice.verdict.outcome == NOT_MET or not advice.verdict.holds:
        return advice
    config = asked.base.with_values(advice.keys)
    txns = max(1, *(sample.n_txns for sample in asked.samples(config)))
    most = min(SEEDS_MOST, TXNS_MOST // txns)
    while 2 * advice.seeds <= most and advice.verdict.holds:
        samples = asked.samples(config, advice.seeds)
        if advice.verdict.outcome != CANNOT_TELL and not are_too_few(samples, config):
            break
        advice = asked.advice(advice.levers, config, advice.words, advice.keys, 2 * advice.seeds)
    return advice


def _rank(found: Sequence[Advice]) -> tuple[Advice, ...]:
    """Return what can be had first; what meets the objective before what may, and that before the rest.

    Of those that meet it the one that takes the least; of the others the one that helps most, where a tenth of the
    greatest help is no difference, and then the one that takes the least.
    """
    greatest = max((advice.gain for advice in found), default=0.0)

    def rank(advice: Advice) -> tuple[object, ...]:
        outcome = advice.verdict.outcome
        is_even = outcome == MET or greatest <= 0.0
        return (
            advice.effort[0] == _HAD[HYPOTHETICAL],
            _OUTCOMES[outcome],
            outcome == CANNOT_TELL and not advice.verdict.holds,
            0 if is_even else -round(10.0 * max(advice.gain, -greatest) / greatest),
            advice.effort,
            advice.found.value is None,
            -advice.gain,
        )

    return tuple(sorted(found, key=rank))
