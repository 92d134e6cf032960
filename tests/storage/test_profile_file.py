"""A profile of one's own: what a good file gives, and every way a bad one is answered."""

from __future__ import annotations

import pytest

from endive.errors import ProfileError
from endive.storage import Note, load_profile
from endive.storage.requests import APPEND, CAS, CATALOG, LOG, MANIFEST_LIST, METADATA, READ, WRITE

GOOD = """
name = "minio"
title = "MinIO in the cellar"
capabilities = ["read", "write", "cas", "append"]
[latency.read]
distribution = "exponential"
mean_ms = 4.0
source = "ours"
[latency.write]
distribution = "fixed"
ms = 6.0
source = "ours"
[latency.cas.success]
distribution = "fixed"
ms = 8.0
source = "ours"
[latency.cas.failure]
distribution = "fixed"
ms = 9.0
source = "ours"
[latency.append]
distribution = "fixed"
ms = 7.0
source = "ours"
[objects.metadata.write]
distribution = "fixed"
ms = 20.0
source = "ours"
[floor]
min_latency_ms = 2.0
source = "ours"
[legs]
cas = 0.8
source = "ours"
[contention.cas]
window_ms = 3.5
penalty = { distribution = "fixed", ms = 1.5 }
source = "ours"
[throttling.append]
window_ms = 4.5
delay = { distribution = "fixed", ms = 2.5 }
source = "ours"
[crowding.cas]
window_ms = 5.5
known = "measured"
source = "ours"
[[crowding.cas.among]]
rivals = 1
penalty = { distribution = "fixed", ms = 3.5 }
[[crowding.cas.among]]
rivals = 7
penalty = { distribution = "fixed", ms = 30.5 }
[write_limit]
writes_per_s_max = 50
known = "published"
source = "the manual"
[head_before_read]
objects = ["manifest_list"]
source = "a log"
[prices.read]
usd_per_1000 = 0.0004
source = "list price"
date = "2026-01-31"
"""


@pytest.fixture
def problems(tmp_path):
    """The lines a file's author is told, without the file's name."""

    def load(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ProfileError) as refused:
            load_profile(path)
        lines = str(refused.value).splitlines()
        assert all(line.startswith("mine.toml: ") for line in lines)
        return [line.removeprefix("mine.toml: ") for line in lines]

    return load


def test_a_good_file_gives_every_figure_it_states(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, encoding="utf-8")

    profile = load_profile(str(path))

    assert (profile.name, profile.title, profile.vintage) == ("minio", "MinIO in the cellar", "user")
    assert profile.capabilities == {READ, WRITE, CAS, APPEND}
    assert profile.latency(CATALOG, READ).quantile(0.0) == 2.0
    assert profile.latency(CATALOG, WRITE).mean() == 6.0
    assert profile.latency(METADATA, WRITE).mean() == 20.0
    assert profile.latency(CATALOG, CAS).mean() == 8.0
    assert profile.latency(CATALOG, CAS, success=False).mean() == 9.0
    assert profile.latency(LOG, APPEND, success=False).mean() == 7.0
    assert (profile.leg_share(CAS), profile.leg_share(READ)) == (0.8, 0.5)
    assert profile.contention[CAS].window_ms == 3.5
    assert profile.contention[CAS].extra.mean() == 1.5
    assert (profile.throttling[APPEND].window_ms, profile.throttling[APPEND].extra.mean()) == (4.5, 2.5)
    crowd = profile.crowding[CAS]
    assert (crowd.window_ms, crowd.known) == (5.5, "measured")
    assert [(table.rivals, table.penalty.mean()) for table in crowd.tables] == [(1, 3.5), (7, 30.5)]
    assert profile.writes_per_s_max == 50.0
    assert profile.head_before_read == {MANIFEST_LIST}
    assert profile.prices[READ].usd_per_1000 == 0.0004
    assert profile.prices[READ].date == "2026-01-31"
    assert profile.notes["write_limit"] == Note(known="published", source="the manual")
    assert profile.figures[READ, True].known == "assumed"  # it does not say


def test_a_file_without_a_name_is_called_after_itself(tmp_path):
    path = tmp_path / "cellar.toml"
    path.write_text(GOOD.replace('name = "minio"', ""), encoding="utf-8")

    assert load_profile(path).name == "cellar"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '"append"]',
            '"apend"]',
            "capabilities names 'apend', which is unknown (did you mean 'append'?). "
            "Choose among: read, write, cas, append, tail_append, create.",
        ),
        ('["read", "write",', '["write",', "capabilities lacks 'read', which every provider has. Add it."),
        (
            '"append"]',
            '"append", "tail_append"]',
            "latency.tail_append is missing. Add it, or drop it from capabilities.",
        ),
        (
            '"cas", "append"]',
            '"cas"]',
            "latency.append is given, but capabilities lack 'append'. Add it there, or remove the table.",
        ),
        (
            'mean_ms = 4.0\nsource = "ours"',
            "mean_ms = 4.0",
            "latency.read.source is missing. Say where the figures come from.",
        ),
        (
            'known = "published"',
            'known = "publishd"',
            "write_limit.known = 'publishd' is unknown (did you mean 'published'?). "
            "Choose one of: measured, published, assumed.",
        ),
        ("cas = 0.8", "cas = 1.8", "legs.cas = 1.8 is out of range. Give a number from 0 to 1."),
        (
            "cas = 0.8",
            "tail_append = 0.8",
            "legs.tail_append is unknown (did you mean 'append'?). "
            "Known here: known, source, read, write, cas, append. Correct or remove it.",
        ),
        ("window_ms = 3.5", "window_ms = 0", "contention.cas.window_ms = 0 is out of range. Give a number above 0."),
        ("window_ms = 3.5", "", "contention.cas.window_ms is missing. Give a number above 0."),
        (
            "penalty = { distribution",
            "penality = { distribution",
            "contention.cas.penalty is missing. Give the distribution of a contended answer's extra time.",
        ),
        (
            "delay = { distribution",
            "delays = { distribution",
            "throttling.append.delay is missing. Give the distribution of a throttled request's wait.",
        ),
        (
            "[throttling.append]",
            "[throttling.tail_append]",
            "throttling.tail_append is given, but capabilities lack 'tail_append'. Add it there, or remove the table.",
        ),
        ("rivals = 7", "rivals = 16", "crowding.cas.among[1].rivals = 16 is out of range. Give a number from 1 to 15."),
        (
            "rivals = 7",
            "rivals = 1",
            "crowding.cas.among gives [1, 1] rivals. Give one to 4 tables, their rivals rising.",
        ),
        (
            'penalty = { distribution = "fixed", ms = 30.5 }',
            "",
            "crowding.cas.among[1].penalty is missing. Give the distribution of the answer's extra time.",
        ),
        (
            "writes_per_s_max = 50",
            'writes_per_s_max = "50"',
            "write_limit.writes_per_s_max = '50' is not a number. Give a number above 0.",
        ),
        (
            '["manifest_list"]',
            '["manifestlist"]',
            "head_before_read.objects names 'manifestlist', which is unknown "
            "(did you mean 'manifest_list'?). Choose among: catalog, metadata, manifest_list, manifest, log, "
            "commit_file, checkpoint, last_checkpoint, checksum.",
        ),
        (
            "usd_per_1000 = 0.0004",
            "usd_per_1000 = -1",
            "prices.read.usd_per_1000 = -1 is out of range. Give a number of at least 0.",
        ),
        ('date = "2026-01-31"', "", "prices.read.date is missing. Add it."),
        ('title = "MinIO in the cellar"', "title = 7", "title = 7 is not a text. Give one in quotes."),
        (
            "[objects.metadata.write]",
            "[objects.metadta.write]",
            "objects.metadta is unknown (did you mean 'metadata'?). "
            "Known here: catalog, metadata, manifest_list, manifest, log, commit_file, checkpoint, last_checkpoint, "
            "checksum. Correct or remove it.",
        ),
        (
            "[latency.cas.success]",
            "[latency.cas.sucess]",
            "latency.cas.success is missing. Give the latency of success as well as that of failure.",
        ),
        (
            "[floor]",
            "[flor]",
            "flor is unknown (did you mean 'floor'?). Known here: name, title, description, vintage, "
            "capabilities, latency, objects, floor, legs, contention, throttling, crowding, write_limit, "
            "head_before_read, prices, byte_prices, measured. Correct or remove it.",
        ),
    ],
)
def test_each_mistake_is_named_with_what_is_allowed_and_what_to_do(problems, old, new, expected):
    assert old in GOOD
    assert expected in problems(GOOD.replace(old, new, 1))


def test_a_bad_distribution_is_answered_by_its_family_at_its_place(problems):
    found = problems(GOOD.replace("mean_ms = 4.0", "mean = 4.0"))

    assert any(line.startswith("latency.read.mean = 4.0 is not a key") for line in found)
    assert any(line.startswith("latency.read.mean_ms is missing") for line in found)


def test_all_problems_are_told_at_once(problems):
    text = GOOD.replace("cas = 0.8", "cas = -1").replace("ms = 6.0", "ms = -6.0").replace("[floor]", "[flor]")

    found = problems(text)

    assert [line.split(" ")[0] for line in found] == ["latency.write.ms", "legs.cas", "flor"]


def test_a_limit_of_writes_needs_something_to_limit(problems):
    text = """
    capabilities = ["read"]
    [latency.read]
    distribution = "fixed"
    ms = 1.0
    source = "ours"
    [write_limit]
    writes_per_s_max = 1.0
    source = "ours"
    """

    assert problems(text) == ["write_limit limits conditional writes, and capabilities name none. Remove it."]


def test_a_table_where_a_number_stands_is_refused(problems):
    found = problems('capabilities = ["read"]\nlatency = 5\n')

    assert found == [
        "latency = 5 is not a table. Write [latency] and its keys below.",
        "latency.read is missing. Add it, or drop it from capabilities.",
    ]


def test_a_missing_file_is_told_with_the_built_in_names(tmp_path):
    with pytest.raises(ProfileError, match=r"nowhere\.toml' does not exist.*s3, s3x"):
        load_profile(tmp_path / "nowhere.toml")


def test_a_file_that_is_not_toml_is_told_so(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("name = ", encoding="utf-8")

    with pytest.raises(ProfileError, match=r"mine\.toml' is not valid TOML"):
        load_profile(path)
