"""The JSON schema of a configuration, the upgrade of a file, and durations as they were written."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from endive.cli.listings.config import app
from endive.config import known_keys, parse_config
from endive.config.json_schema import json_schema
from endive.config.reading.upgrade import upgrade

ROOT = Path(__file__).parents[2]
GOOD = Path(__file__).parent / "good"


def test_the_published_schema_is_what_the_command_prints():
    page = ROOT / "docs" / "reference" / "configuration.schema.json"

    assert json_schema() == json.loads(page.read_text(encoding="utf-8")), (
        "run: endive config schema --json-schema > docs/reference/configuration.schema.json"
    )


def test_the_schema_has_every_key_of_a_section_and_of_a_source():
    schema = json_schema()
    sections, source = schema["properties"], schema["properties"]["source"]["items"]["properties"]
    documents = {"catalog.mode", "transaction.ntable", "transaction.inter_arrival"}
    renamed = {"log_entry_size", "compaction_threshold", "manifest_list_entry_size", "manifest_list_seal_threshold"}
    missing = []
    for key in known_keys():
        section, *parts = key.split(".")
        table = source if section == "source" else sections[section]["properties"]
        name = parts[1] if section == "source" else parts[0]
        if name not in table and f"{section}.{name}" not in documents and name not in renamed | {"ntable"}:
            missing.append(key)

    assert [] == [key for key in missing if not key.startswith("storage.T_")]


@pytest.mark.filterwarnings("ignore::endive.config.reading.former_names.ConfigNote")
@pytest.mark.parametrize("name", ["specification", "append_design", "many_keys"])
def test_an_upgraded_file_means_the_same_and_has_no_spelling_of_the_documents(name):
    document = tomllib.loads((GOOD / f"{name}.toml").read_text(encoding="utf-8"))
    upgraded = upgrade(document)

    assert parse_config(document).config_hash() == parse_config(upgraded).config_hash()
    assert upgrade(upgraded) == upgraded
    assert "inter_arrival" not in upgraded.get("transaction", {})
    assert "mode" not in upgraded.get("catalog", {})
    assert [] == [key for key in upgraded.get("storage", {}) if key.startswith("T_") and key != "T_LOG_ENTRY_READ"]


def test_the_command_prints_an_upgraded_file_and_replaces_it_only_if_asked(tmp_path):
    file = tmp_path / "old.toml"
    file.write_text("[catalog]\nmode = 'instant'  # a comment\n")

    printed = CliRunner().invoke(app, ["upgrade", str(file)])
    assert "# a comment" in file.read_text()
    CliRunner().invoke(app, ["upgrade", "--write", str(file)])

    assert '[catalog]\ntype = "instant"\n' == printed.stdout == file.read_text()


def test_show_keeps_durations_as_they_were_written(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text('[simulation]\nduration_ms = "26h"\n[transaction]\nruntime = "20min"\nretry = 3\n')

    shown = tomllib.loads(CliRunner().invoke(app, ["show", str(file)]).stdout)

    assert ("26h", "20min") == (shown["simulation"]["duration_ms"], shown["source"][0]["runtime"])
    assert parse_config(shown) == parse_config(tomllib.loads(file.read_text()))


def test_the_schema_of_a_key_fits_on_a_terminal():
    printed = CliRunner().invoke(app, ["schema", "source.<name>.read"]).stdout

    assert "source.<name>.read\n    What an overwrite has read" in printed
    assert 100 >= max(len(line) for line in printed.splitlines())
