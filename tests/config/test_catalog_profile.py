"""``catalog.profile``: a service by name fills in what the configuration leaves out."""

import pytest

from endive.config import parse_config
from endive.config.catalog_profile import CATALOGS, borrowed_note, catalog_profile, latency_note
from endive.config.sections.distribution import Fixed
from endive.vocabulary import KNOWN


@pytest.mark.parametrize("name", CATALOGS)
def test_a_profile_names_its_latency_and_who_says_so(name):
    profile = catalog_profile(name)

    assert profile.name == name
    assert profile.known in KNOWN
    assert profile.source.startswith("by ")


@pytest.mark.parametrize("name", CATALOGS)
def test_a_named_catalog_is_a_service_with_the_profiles_latency_and_flavour(name):
    catalog = parse_config({"catalog": {"profile": name}}).catalog

    profile = catalog_profile(name)
    assert (catalog.type, catalog.service.flavour, catalog.latency) == ("service", profile.flavour, profile.latency)
    assert catalog.latency != Fixed(ms=1.0)


def test_a_configuration_that_names_no_catalog_hashes_as_before():
    assert 'profile = "' not in parse_config({"catalog": {"type": "service"}}).to_toml()


@pytest.mark.parametrize(
    ("written", "of", "known"),
    [
        ({"profile": "glue"}, "catalog glue", "published"),
        ({"profile": "jdbc"}, "catalog jdbc", "assumed"),
        ({"profile": "jdbc", "latency_ms": 3.0}, "catalog", "given"),
        ({"type": "service", "latency_ms": 3.0}, "catalog", "given"),
        ({"type": "service"}, "catalog of unsaid latency", "assumed"),
        ({"type": "instant"}, "catalog", "assumed"),
    ],
)
def test_how_well_the_latency_of_a_catalog_is_known(written, of, known):
    note = latency_note(parse_config({"catalog": written}).catalog)

    assert (note.of, note.known) == (of, known)


@pytest.mark.parametrize("name", CATALOGS)
def test_a_name_that_rests_on_another_products_figure_says_so(name):
    note = borrowed_note(parse_config({"catalog": {"profile": name}}).catalog)
    measured = parse_config({"catalog": {"profile": name, "latency_ms": 9.0}})

    assert (name in ("lakekeeper", "nessie", "polaris")) == (note is not None)
    assert borrowed_note(measured.catalog) is None
    assert catalog_profile(name).mechanism
