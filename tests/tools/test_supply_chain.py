"""What we ship: pins against advisories, the bill of materials, the licences."""

import json
import re
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from tools.check_advisories import Advisory, better_known, find_concerned, read_advisories
from tools.pins import ROOT, SHIPPED, Pin, read_pins
from tools.write_sbom import PAGE, UNKNOWN, bill, licence_of, licence_page

ADVISORY = Advisory("urllib3", "CVE-2025-66471", "it explodes", SpecifierSet(">=1.0,<2.6.0"))


def test_no_pin_is_concerned_by_an_advisory_in_the_list():
    advisories, accepted = read_advisories()

    assert [] == find_concerned(read_pins(), advisories, accepted)


@pytest.mark.parametrize(("version", "count"), [("2.5.0", 1), ("2.6.0", 0), ("0.9", 0)])
def test_a_pin_is_concerned_within_the_versions_of_the_advisory(version, count):
    lines = find_concerned([Pin("urllib3", version, "test")], [ADVISORY], {})

    assert count == len(lines)
    assert all("urllib3" in line and "CVE-2025-66471" in line and "make pins" in line for line in lines)


def test_an_accepted_advisory_is_silent():
    assert [] == find_concerned([Pin("urllib3", "2.5.0", "test")], [ADVISORY], {"CVE-2025-66471": "only in tests"})


def test_every_advisory_has_an_identifier_and_is_about_a_package_that_is_pinned():
    advisories, _ = read_advisories()
    names = {pin.name for pin in read_pins()}

    assert [] == [each.id for each in advisories if not re.fullmatch(r"(CVE|PYSEC)-\d{4}-\d+|GHSA(-\w{4}){3}", each.id)]
    assert {"pysec", "changelog"} == {each.source for each in advisories}
    assert [] == [each.package for each in advisories if each.package not in names]


def test_a_clone_of_the_database_tells_what_the_list_lacks_and_what_it_has_wrong(tmp_path):
    folder = tmp_path / "vulns" / "urllib3"
    folder.mkdir(parents=True)
    text = "id: PYSEC-1\naliases: [CVE-1]\naffected:\n- versions: ['2.0', '2.1', nonsense]\n"
    (folder / "PYSEC-1.yaml").write_text(text)
    right = Advisory("urllib3", "CVE-1", "", SpecifierSet(">=2.0,<2.2"), "pysec")
    parts = [Advisory("urllib3", "CVE-1", "", SpecifierSet(f"=={version}"), "pysec") for version in ("2.0", "2.1")]
    wrong = Advisory("urllib3", "CVE-1", "", SpecifierSet(">=3"), "pysec")
    unknown = Advisory("urllib3", "CVE-2", "", SpecifierSet("<3"), "pysec")

    def told(version, *advisories):
        return better_known([Pin("urllib3", version, "test")], list(advisories), tmp_path)

    assert [] == told("2.1", right)
    assert [] == told("2.1", *parts)
    assert ["CVE-1 of urllib3 also concerns 2.0, which ==2.1 leaves out"] == told("2.1", parts[1])
    assert ["CVE-1 of urllib3 also concerns 2.0, which >=3 leaves out"] == told("2.9", wrong)
    assert ["CVE-2 of urllib3 is not in the database"] == told("2.9", unknown)
    assert ["urllib3 2.1 is concerned by PYSEC-1, which the list lacks"] == told("2.1")
    (folder / "PYSEC-1.yaml").write_text(text + "withdrawn: 2026-01-01\n")
    assert [] == told("2.1")


def test_the_bill_names_every_shipped_pin_with_its_digests_and_is_the_same_every_time():
    pins = read_pins(SHIPPED)
    document = bill("1.2.3", pins)

    assert document == bill("1.2.3", pins)
    assert "CycloneDX" == document["bomFormat"]
    assert [(pin.name, pin.version) for pin in pins] == [(c["name"], c["version"]) for c in document["components"]]
    text = "".join((ROOT / "requirements" / f"{layer}.txt").read_text(encoding="utf-8") for layer in SHIPPED)
    assert text.count("--hash=sha256:") == sum(len(component["hashes"]) for component in document["components"])
    assert str(Path.home()) not in json.dumps(document)


def test_the_licence_of_everything_that_is_shipped_is_known():
    assert [] == [pin.name for pin in read_pins(SHIPPED) if licence_of(pin.name) == UNKNOWN]


def test_the_page_of_licences_is_that_of_the_pins():
    assert licence_page(read_pins(SHIPPED)) == PAGE.read_text(encoding="utf-8")
