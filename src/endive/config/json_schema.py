"""The JSON schema of a configuration, for editors that complete and check TOML.

Read off the models, like the reference. What depends on other keys is said in words, under ``description``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from endive.config.effects import describe
from endive.config.keys import SECTIONS, SOURCE
from endive.config.reading.former_names import TRANSACTION
from endive.config.sections.source import SourceConfig, SourceKeys

TITLE: Final = "An Endive configuration"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
OWN_WORDS: Final = ("only", "implied", "default_text", "example")


def json_schema() -> dict[str, Any]:
    """Return the schema of a configuration file."""
    definitions: dict[str, Any] = {}
    sections = {name: _of_table(table, definitions) for name, table in SECTIONS.items()}
    shared = _of_table(SourceKeys, definitions)
    sections[TRANSACTION]["properties"] |= shared["properties"]
    # The documents' spellings stay out: a file that has them is rewritten by ``endive config upgrade``.
    source = _of_table(SourceConfig, definitions)
    source["required"] = ["name"]  # a recipe may give the arrivals
    source["additionalProperties"] = True  # and takes parameters of its own
    return {
        "$schema": DIALECT,
        "title": TITLE,
        "type": "object",
        "additionalProperties": False,
        "properties": {**sections, SOURCE: {"type": "array", "items": source}},
        "$defs": definitions,
    }


def _of_table(table: type[Any], definitions: dict[str, Any]) -> dict[str, Any]:
    schema = table.model_json_schema(schema_generator=_Generator, ref_template="#/$defs/{model}")
    definitions.update(_in_words(schema.pop("$defs", {})))
    plain: dict[str, Any] = _in_words(schema)
    return plain


class _Generator(GenerateJsonSchema):
    """Pydantic's own, which leaves out defaults that it cannot write down."""

    def encode_default(self, dft: Any) -> Any:
        return None if hasattr(dft, "model_dump") else super().encode_default(dft)


def _in_words(node: Any) -> Any:
    """Put what a declaration says in our own terms into descriptions."""
    if isinstance(node, list):
        return [_in_words(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    plain = {key: _in_words(item) for key, item in node.items() if key not in OWN_WORDS}
    if "description" in node and isinstance(node["description"], str):
        when = describe(node["only"]) if "only" in node else ""
        default = f" Default: {node['default_text']}." if "default_text" in node else ""
        plain["description"] = f"{node['description']}{f' Only with {when}.' if when else ''}{default}".replace("`", "")
    if plain.get("default", 0) is None:
        del plain["default"]
    return plain
