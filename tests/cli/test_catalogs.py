"""``endive catalogs``: the services that ``catalog.profile`` may name, and how well their latency is known."""

import json

import pytest

from endive.config.catalog_profile import CATALOGS, catalog_profile


def test_every_catalog_is_listed_with_how_well_it_is_known(endive):
    answer = endive("catalogs")

    names = {line.split()[0]: line.split() for line in answer.stdout.splitlines() if line.strip()}
    assert answer.exit_code == 0
    assert set(CATALOGS) <= set(names)
    assert names["glue"][1:6] == ["pointer", "141", "199", "230", "published"]
    assert names["jdbc"][1:6] == ["pointer", "5.0", "11.4", "16.0", "assumed"]


def test_json_gives_latency_knowledge_and_source_by_name(endive):
    document = json.loads(endive("catalogs", "--json").stdout)

    assert list(document) == list(CATALOGS)
    assert document["polaris"]["latency"] == {"distribution": "lognormal", "median_ms": 7.2, "sigma": 0.41}
    assert document["polaris"]["p50_ms"] == pytest.approx(7.2)
    assert {profile["known"] for profile in document.values()} == {"published", "assumed"}
    assert document["hive"]["source"] == catalog_profile("hive").source
