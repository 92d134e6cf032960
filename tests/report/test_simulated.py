"""The block that says what was simulated."""

import tomllib

from tests.report.synthetic import SIMULATED

from endive.report.page import render
from endive.report.simulated import configuration_text, simulated_lines


def test_the_block_says_what_varied_what_did_not_and_how_to_make_it_again(report):
    material = report.sections[0].material
    lines = dict(simulated_lines(material.study, material.layout))

    assert "0.5, 1, 2, 4, 8" == lines["varied: offered load (txns/s)"]
    assert "iceberg, merge" == lines["varied: protocol"]
    assert "success_rate >= 99 %" == lines["objective"]
    assert 'iceberg (merging "off")' == lines["protocol"]
    assert (
        "measured: s3 any read (34.0 ms); assumed: catalog catalog cas (5.00 ms)"
        == (lines["how well its figures are known"])
    )
    assert 'arrivals { kind = "poisson", per_s = 2.0 }, retry 4' == lines["source appends"]
    assert "60 min; txns submitted from 15 min to 45 min count" == lines["simulated time"]
    assert "3 seeds: 42, 43, 44" == lines["seeds"]
    assert lines["command"].endswith("/studies/two_protocols.toml")


def test_the_configuration_in_full_reads_back(report):
    text = configuration_text(report.sections[0].material.study)

    assert SIMULATED["configuration"] == tomllib.loads(text)


def test_the_block_is_on_the_page_closed_and_opens_for_paper(report):
    text = render(report)

    assert 1 == text.count('<details class="simulated"><summary>What was simulated</summary>')
    assert 'addEventListener("beforeprint"' in text
