"""The ``[storage]`` section: which provider, and latencies that replace those of its profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, create_model, model_validator

from endive.config.capabilities import BUILT_IN, HAVE_NO_VINTAGES
from endive.config.sections.distribution import SEED_FLOOR_MS, Distribution, Spec, refuse_bad_normal, spell_out
from endive.config.values import (
    DELTA,
    ICEBERG,
    ON,
    Clause,
    Forms,
    LatencyMs,
    LogMean,
    PerMibMs,
    PositiveLatencyMs,
    Sigma,
    Table,
    Text,
    Whole,
    key,
    only,
    refusal,
)

WITH_VINTAGES = tuple(name for name in BUILT_IN if name not in HAVE_NO_VINTAGES)
SHORT_FORMS = (
    "{mean_ms, stddev_ms}, {mu, sigma}, {base_latency_ms, latency_per_mib_ms, sigma} "
    "or a distribution table such as {distribution = 'fixed', ms = 50.0}"
)


class ShortNormal(Spec):
    """``{mean_ms, stddev_ms}``: a normal truncated at 1 ms (experiment plan)."""

    mean_ms: LatencyMs = Field(description="Mean, before truncation at 1 ms.")
    stddev_ms: LatencyMs = Field(description="Standard deviation.")

    @model_validator(mode="after")
    def _has_mass_left(self) -> ShortNormal:
        refuse_bad_normal(self.mean_ms, self.stddev_ms, SEED_FLOOR_MS, "mean_ms")
        return self

    def to_table(self) -> dict[str, Any]:
        return {
            "distribution": "truncated_normal",
            "mean_ms": self.mean_ms,
            "stddev_ms": self.stddev_ms,
            "min_ms": SEED_FLOOR_MS,
        }


class ShortLognormal(Spec):
    """``{mu, sigma}``: a lognormal of at least 1 ms (internals document)."""

    mu: LogMean = Field(description="Mean of the logarithm of the latency in ms.")
    sigma: Sigma = Field(description="Standard deviation of the logarithm.")

    def to_table(self) -> dict[str, Any]:
        return {"distribution": "lognormal", "mu": self.mu, "sigma": self.sigma, "min_latency_ms": SEED_FLOOR_MS}


class ShortSizeBased(Spec):
    """``{base_latency_ms, latency_per_mib_ms, sigma}``: grows with the object, at least 1 ms (internals document)."""

    base_latency_ms: PositiveLatencyMs = Field(description="Latency of an empty object.")
    latency_per_mib_ms: PerMibMs = Field(description="Added per MiB.")
    sigma: Sigma = Field(description="Standard deviation of the logarithm of the noise.")

    def to_table(self) -> dict[str, Any]:
        return {"distribution": "size_based", **super().to_table(), "min_latency_ms": SEED_FLOOR_MS}


def _latency_tag(value: Any) -> str:
    if not isinstance(value, dict) or "distribution" in value:
        return "<table>"
    if "mean_ms" in value or "stddev_ms" in value:
        return "<normal>"
    if "base_latency_ms" in value or "latency_per_mib_ms" in value:
        return "<sized>"
    return "<log>"


def _refuse_unknown_form(value: Any) -> Any:
    if isinstance(value, Table):
        return value
    if not isinstance(value, dict):
        raise refusal(f"must be a table: {SHORT_FORMS}.")
    keys = {"distribution", "mean_ms", "stddev_ms", "mu", "sigma", "base_latency_ms", "latency_per_mib_ms"}
    if not keys & value.keys():
        raise refusal(f"says no latency. Give {SHORT_FORMS}.", shows_value=False)
    return value


_LATENCY_FORMS = Annotated[
    Annotated[ShortNormal, Tag("<normal>")]
    | Annotated[ShortLognormal, Tag("<log>")]
    | Annotated[ShortSizeBased, Tag("<sized>")]
    | Annotated[Distribution, Tag("<table>")],
    Discriminator(_latency_tag),
    BeforeValidator(_refuse_unknown_form),
    AfterValidator(spell_out),
]
Latency = Annotated[Spec, Forms("a latency table", _LATENCY_FORMS)]


_OPERATIONS = {
    "read": "Latency of a read.",
    "write": "Latency of a write.",
    "head": "Latency of a HEAD request.",
    "delete": "Latency of a delete.",
    "list": "Latency of a listing.",
    "cas": "Latency of a compare-and-swap that succeeds.",
    "append": "Latency of a conditional append that succeeds.",
    "create": "Latency of a creation if absent that succeeds.",
}
_CONDITIONAL = ("cas", "append", "create")
_CLEANED_UP = {"commit.after_success": ("reload", "clean_up")}
_WRITTEN_HEAD = {"commit.head": ("written",)}
_CREATED = {"catalog.type": ("put_if_absent", "single_driver")}
# Object -> when any request goes to it; operation -> when it does. An operation that is not listed never does.
_REQUESTS: dict[str, tuple[tuple[Clause, ...], dict[str, tuple[Clause, ...]]]] = {
    "catalog": (({"catalog.type": ("cas", "append")},), {"read": (), "cas": ({"catalog.type": ("cas",)},)}),
    "metadata": (
        (ICEBERG, {"catalog.table_metadata_inlined": (False,)}),
        {"read": (), "write": (), "head": (_WRITTEN_HEAD,)},
    ),
    "manifest_list": (
        (ICEBERG,),
        {
            "read": (),
            "write": (),
            "head": ({"commit.head": ("profile",)},),
            "delete": (_CLEANED_UP,),
            "append": ({"transaction.manifest_list_mode": ("append",)},),
        },
    ),
    "manifest": ((ICEBERG,), {"read": (), "write": (), "head": (_WRITTEN_HEAD,), "delete": (_CLEANED_UP,)}),
    "log": (({"catalog.type": ("append",)},), {"head": (), "cas": (), "append": ()}),
    "commit_file": (
        (DELTA,),
        {
            "read": (),
            "list": (),
            "create": (_CREATED,),
            "write": ({"catalog.type": ("dynamodb", "service")},),
            "head": ({"catalog.type": ("dynamodb", "single_driver")},),
            "delete": ({"delta.log_retention_ms": ON},),
        },
    ),
    "checkpoint": ((DELTA,), {"read": (), "write": ()}),
    "last_checkpoint": ((DELTA,), {"read": (), "write": ()}),
    "checksum": ((DELTA, {"delta.client": ("spark",)}), {"read": (), "write": ()}),
}


class ObjectLatencies(Table):
    """``[storage.objects.<object>]``: one latency table per operation."""


def _latencies(name: str, operations: dict[str, tuple[Clause, ...]]) -> type[ObjectLatencies]:
    fields: dict[str, Any] = {}
    for operation, clauses in operations.items():
        fields[operation] = (Latency | None, key(None, _OPERATIONS[operation], None, *clauses))
        if operation in _CONDITIONAL:
            fields[f"{operation}_failure"] = (
                Latency | None,
                key(None, "Latency of one that is refused.", None, *clauses),
            )
    title = f"{name.title().replace('_', '')}Latencies"
    table = create_model(
        title, __base__=ObjectLatencies, __module__=__name__, __doc__=ObjectLatencies.__doc__, **fields
    )
    globals()[title] = table  # where pickle looks for it
    return table


_OBJECT_FIELDS: dict[str, Any] = {
    name: (_latencies(name, operations) | None, Field(None, json_schema_extra=only(*clauses)))
    for name, (clauses, operations) in _REQUESTS.items()
}
ObjectsConfig = create_model(
    "ObjectsConfig",
    __base__=Table,
    __module__=__name__,
    __doc__="``[storage.objects]``: overrides by kind of object.",
    **_OBJECT_FIELDS,
)
OBJECTS = tuple(ObjectsConfig.model_fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyOverride:
    """One figure of the profile replaced: the latency of ``op`` on ``object`` when it succeeds or fails."""

    object: str
    op: str
    is_success: bool
    distribution: Spec


class StorageConfig(Table):
    """Where the objects live and how long a request takes.

    ``<object>`` is one of catalog, metadata, manifest_list, manifest, log; of Delta: commit_file, checkpoint,
    last_checkpoint, checksum.
    """

    provider: Text = key(
        "s3",
        "s3, s3x, azure, azurex, gcp, instant, fifo, constant, or the path of a profile (.toml).",
        "s3; s3x if the catalog or the manifest lists are appended to",
    )
    vintage: Literal["measured", "original"] = key(
        "measured",
        "Which figures of a built-in provider: measured ones, or those of the original design documents.",
        None,
        {"storage.provider": WITH_VINTAGES},
    )
    latency_ms: LatencyMs | None = key(
        None, "Latency of every request; needed with provider 'constant'.", None, {"storage.provider": ("constant",)}
    )
    min_latency_ms: LatencyMs | None = key(None, "Floor of every request, instead of the profile's.", "the profile's")
    max_parallel: Annotated[int, Whole(1, 10_000)] = key(
        4, "Requests one txn sends at once when it reads or writes several objects."
    )
    T_LOG_ENTRY_READ: Latency | None = key(
        None,
        "Cost per entry of reading the log beyond the checkpoint, multiplied by the entries. Given without "
        "catalog.append_preset, that is append_design, which does not use it.",
        None,
        {"catalog.type": ("append",)},
        {"catalog.append_preset": ("log",)},
    )
    objects: ObjectsConfig = Field(default_factory=lambda: ObjectsConfig())

    def latency_overrides(self) -> tuple[LatencyOverride, ...]:
        """Every override; ``T_LOG_ENTRY_READ`` is not among them."""
        return tuple(
            LatencyOverride(object=name, op=op, is_success=not outcome, distribution=spec)
            for name in OBJECTS
            if (latencies := getattr(self.objects, name)) is not None
            for key in type(latencies).model_fields
            for op, _, outcome in [key.partition("_")]
            if (spec := getattr(latencies, key)) is not None
        )
