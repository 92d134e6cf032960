"""What one key may hold: numbers with bounds, names from a list, flags, texts.

The same words serve the error message and the printed reference. It knows nothing of which key it guards, nor of other
keys.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cache, reduce
from operator import or_
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    Tag,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, core_schema

from endive.config.printable import printable
from endive.objectives.duration import DURATION_EXAMPLES, parse_duration_ms

DURATION_MS_MAX = 2**53 / 1000.0  # the clock counts integer microseconds, exact in a float up to 2^53
MILLISECONDS = "milliseconds"  # a number with this unit may be written as a text: 90s, 5min
LATENCY_MS_MAX = 1.0e9  # 11 days: a million of them one after another still fit the clock
GAP_MS_MAX = 1.0e10  # 115 days: 37 times as much, the longest exponential gap, is still drawn as it is
COUNT_MAX = 1_000_000  # of things one txn or one table has; each of them is simulated
BYTES_MAX = 2**40  # one object or one threshold; ``endive.config.checks`` bounds what they add up to
ITEM_BYTES_MAX = 2**30  # one entry of a list or one snapshot of the metadata, of which there are many
WEIGHT_MAX = 1.0e15
PER_MIB_MS_MAX = 1.0e6
GAP_MS_MIN = 0.001  # one tick of the clock: a million arrivals a second
SHOWN_CHARACTERS_MAX = 60
NAME_CHARACTERS_MAX = 200  # of a name worth guessing at
NEARNESS = 0.65  # of two spellings, by difflib
SEED_MAX = 2**63 - 1
NOTHING: Final = object()


class Table(BaseModel):
    """Base of every table of the configuration: frozen, and no key that it does not declare."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @classmethod
    @cache
    def ordered_fields(cls) -> dict[str, FieldInfo]:
        """The fields as people read them: those of the table itself before those it shares with others."""
        own = [name for name in cls.model_fields if name in cls.__annotations__]
        rest = [name for name in cls.model_fields if name not in own]
        return {name: cls.model_fields[name] for name in own + rest}


def refusal(text: str, *, key: str | None = None, shows_value: bool = True) -> PydanticCustomError:
    """A problem of the value (or of its sub-key ``key``), worded to follow ``<key> = <value>``."""
    return PydanticCustomError("endive", "{text}", {"text": text, "key": key or "", "shows_value": shows_value})


class Switch(Enum):
    """States of a switch that are not one of its values."""

    ON = "given and not 0"
    OFF = "not given"


ON: Final = (Switch.ON,)
OFF: Final = (Switch.OFF,)
Clause = Mapping[str, tuple[Any, ...]]  # a choice of keys, each with the values that meet it; one is enough
ICEBERG: Final[Clause] = {"table.format": ("iceberg",)}
DELTA: Final[Clause] = {"table.format": ("delta",)}


def only(*clauses: Clause) -> dict[str, Any]:
    """Describe when a key has an effect: while every clause is met.

    A clause names one key or several by their dotted names (those of the same source without its name), each with the
    values that meet it; ``operation_types`` is met by a kind that the source submits.
    """
    return {"only": clauses}


def key(
    default: Any, description: str, default_text: str | None = None, *clauses: Clause, implied: Any = NOTHING
) -> Any:
    """Declare a key that may be left out: its default, its meaning, and the default in words if its value says less.

    A function as default is called with the other values of the table. The key has an effect while every clause is
    met (``only``). A value equal to ``implied`` is left out of the resolved file.
    """
    given: dict[str, Any] = {"default_factory": default} if callable(default) else {"default": default}
    extra: dict[str, Any] = {} if default_text is None else {"default_text": default_text}
    extra |= only(*clauses) if clauses else {}
    extra |= {} if implied is NOTHING else {"implied": implied}
    return Field(**given, description=description, json_schema_extra=extra or None)


def abridge(text: str) -> str:
    """A text as a message quotes it: not too long."""
    return text if len(text) <= SHOWN_CHARACTERS_MAX else text[: SHOWN_CHARACTERS_MAX - 3] + "..."


def nearest(name: str, known: list[str] | tuple[str, ...]) -> str | None:
    """The known name that ``name`` probably meant, if one is close enough."""
    if len(name) > NAME_CHARACTERS_MAX:
        return None
    matches = get_close_matches(name.lower(), [item.lower() for item in known], n=1, cutoff=NEARNESS)
    return next((item for item in known if item.lower() == matches[0]), None) if matches else None


def unknown_name(value: object, known: list[str] | tuple[str, ...], also: str = "") -> str:
    """The end of a sentence that began with ``<key> = <value>``: what to choose instead."""
    guess = nearest(value, known) if isinstance(value, str) else None
    hint = f" Did you mean {guess!r}?" if guess else ""
    return f"is not known. Choose one of: {', '.join(known)}{also}.{hint}"


@dataclass(frozen=True, slots=True)
class Described:
    """Words for a table whose keys are explained elsewhere."""

    name: str

    def describe(self) -> str:
        """What is allowed, in words."""
        return self.name


@dataclass(frozen=True, slots=True)
class Forms(Described):
    """The forms a file may write a value in, where the value itself has a simpler type."""

    written: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return handler.generate_schema(self.written)


def name_of(table: type[Table], chooser: str) -> str:
    """The value of the key ``chooser`` that chooses this table among others."""
    return str(table.model_fields[chooser].default)


def variants(chooser: str, tables: Sequence[type[Table]], example: str, default: str | None = None) -> Any:
    """Forms of a value that is one of several tables, chosen by a key that each of them has; or by ``default``."""
    known = tuple(name_of(table, chooser) for table in tables)

    def tag(value: Any) -> str:
        name = value.get(chooser, default) if isinstance(value, dict) else getattr(value, chooser, None)
        return f"<{name}>"

    def check(value: Any) -> Any:
        """Speaks before the union does, whose own words would name no key."""
        if isinstance(value, Table):
            return value
        if not isinstance(value, dict):
            raise refusal(f"must be a table such as {example}.")
        if chooser not in value and default is None:
            raise refusal(f"is missing. Choose one of: {', '.join(known)}.", key=chooser, shows_value=False)
        if value.get(chooser, default) not in known:
            raise refusal(unknown_name(value[chooser], known), key=chooser)
        return value

    tagged = [Annotated[table, Tag(f"<{name}>")] for table, name in zip(tables, known, strict=True)]
    return Annotated[reduce(or_, tagged), Discriminator(tag), BeforeValidator(check)]


def rising(low: str, high: str) -> Any:
    """A validator of a table: its key ``high`` holds no less than ``low``."""

    def check(table: Table) -> Table:
        if getattr(table, low) > getattr(table, high):
            raise refusal(f"must be at least {low} = {getattr(table, low)}.", key=high)
        return table

    return model_validator(mode="after")(check)


class Check(ABC):
    """What one key may hold; the words of ``describe`` serve the error message and the reference."""

    __slots__ = ()
    words: ClassVar[str] = ""  # of a check that takes no bounds

    def describe(self) -> str:
        """What is allowed, in words."""
        return self.words

    @abstractmethod
    def check(self, value: object) -> Any:
        """The value, or a refusal that says what is allowed."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return self.json_schema()

    def json_schema(self) -> dict[str, Any]:
        """Describe what is allowed as a JSON schema."""
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Number(Check):
    """A finite number within bounds; whole numbers are numbers, booleans and texts are not.

    Milliseconds may be written as people say them: ``"90s"``, ``"1h30min"``.
    A ``ceiling`` is a bound nobody meets unless a unit is mistaken; only a value beyond it is told of it.
    """

    low: float | None = None
    high: float | None = None
    ceiling: float | None = None
    is_low_allowed: bool = True
    unit: str = ""

    def describe(self) -> str:
        noun = f"a number of {self.unit}" if self.unit else "a number"
        if self.low is None:
            return noun
        if not self.is_low_allowed:
            limit = f" and at most {self.high:.16g}" if self.high is not None else ""
            return f"{noun} greater than {self.low:g}{limit}"
        if self.high is None:
            return f"{noun} of at least {self.low:g}"
        return f"{noun} from {self.low:g} to {self.high:.16g}"

    def check(self, value: object) -> float:
        if isinstance(value, str) and self.unit == MILLISECONDS:
            value = self._from_text(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise refusal(f"must be {self.describe()}.")
        try:
            number = float(value) + 0.0  # no negative zero: equal values must hash equally
        except OverflowError:
            number = math.inf
        is_high_enough = self.low is None or (number >= self.low if self.is_low_allowed else number > self.low)
        is_low_enough = self.high is None or number <= self.high
        if math.isnan(number) or not is_high_enough or not is_low_enough:
            raise refusal(f"must be {self.describe()}.")
        if self.ceiling is not None and number > self.ceiling:
            raise refusal(f"must be at most {self.ceiling:.16g}.")
        if math.isinf(number):
            raise refusal(f"must be {self.describe()}.")
        return number

    def json_schema(self) -> dict[str, Any]:
        number: dict[str, Any] = {"type": "number"}
        if self.low is not None:
            number["minimum" if self.is_low_allowed else "exclusiveMinimum"] = self.low
        if self.high is not None:
            number["maximum"] = self.high
        return {"anyOf": [number, {"type": "string"}]} if self.unit == MILLISECONDS else number

    def _from_text(self, text: str) -> float:
        milliseconds = parse_duration_ms(text)
        if milliseconds is None:
            raise refusal(f"must be {self.describe()}, or a duration as text, such as {DURATION_EXAMPLES}.")
        return milliseconds


@dataclass(frozen=True, slots=True)
class Whole(Check):
    """A whole number within bounds, written without a decimal point."""

    low: int = 0
    high: int = COUNT_MAX

    def describe(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def check(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise refusal(f"must be {self.describe()}.")
        return value


@dataclass(frozen=True, slots=True)
class Words(Check):
    """A text that is not empty."""

    words = "a text that is not empty"

    def check(self, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise refusal(f"must be {self.describe()}.")
        if printable(value) != value:
            raise refusal("must not contain control characters.")
        return value


@dataclass(frozen=True, slots=True)
class PathBelow(Check):
    """The path of a file below a folder that whoever runs the configuration chooses, on any system."""

    words = "a relative path without '..'"

    def check(self, value: object) -> str:
        text = Words().check(value)
        is_anchored = PurePosixPath(text).is_absolute() or bool(PureWindowsPath(text).anchor)
        if is_anchored or text.startswith("~") or ".." in PureWindowsPath(text).parts or not PurePosixPath(text).parts:
            raise refusal(f"must be {self.describe()}: it names a file below the output folder (--out).")
        return text


@dataclass(frozen=True, slots=True)
class SourceName(Check):
    """A name a source can be called by, on the command line too, where a number means a position."""

    words = "a text of printable characters that is neither empty nor a number"

    def check(self, value: object) -> str:
        is_name = isinstance(value, str) and value.strip() == value != "" and value.isprintable()
        if not isinstance(value, str) or not is_name or value.isdecimal():
            raise refusal(f"must be {self.describe()}.")
        return value


SEED = Whole(0, SEED_MAX)

Milliseconds = Annotated[float, Number(0, ceiling=DURATION_MS_MAX, unit=MILLISECONDS)]
LatencyMs = Annotated[float, Number(0, ceiling=LATENCY_MS_MAX, unit=MILLISECONDS)]
PositiveLatencyMs = Annotated[float, Number(0, ceiling=LATENCY_MS_MAX, is_low_allowed=False, unit=MILLISECONDS)]
GapMs = Annotated[float, Number(GAP_MS_MIN, ceiling=GAP_MS_MAX, unit=MILLISECONDS)]
Probability = Annotated[float, Number(0, 1)]
Share = Annotated[float, Number(0, 1, is_low_allowed=False)]
Weight = Annotated[float, Number(0, ceiling=WEIGHT_MAX)]
PositiveWeight = Annotated[float, Number(0, ceiling=WEIGHT_MAX, is_low_allowed=False)]
PerMibMs = Annotated[float, Number(0, ceiling=PER_MIB_MS_MAX)]
LogMean = Annotated[float, Number(-60, 60)]
Sigma = Annotated[float, Number(0, 8)]
ZipfExponent = Annotated[float, Number(0, 100, is_low_allowed=False)]
Bytes = Annotated[int, Whole(0, BYTES_MAX)]
ItemBytes = Annotated[int, Whole(0, ITEM_BYTES_MAX)]
PositiveBytes = Annotated[int, Whole(1, BYTES_MAX)]
PositiveItemBytes = Annotated[int, Whole(1, ITEM_BYTES_MAX)]
Count = Annotated[int, Whole(0)]
Flag = bool
Text = Annotated[str, Words()]
