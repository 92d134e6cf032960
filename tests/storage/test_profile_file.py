"""A profile of one's own: what a good file gives, and every way a bad one is answered."""

import tomllib
from pathlib import Path

import pytest

from endive.errors import ProfileError
from endive.storage import Note, load_profile
from endive.vocabulary import APPEND, CAS, CATALOG, LOG, MANIFEST_LIST, METADATA, READ, WRITE

FOLDER = Path(__file__).parent
GOOD = (FOLDER / "good_profile.toml").read_text(encoding="utf-8")
REFUSED = tomllib.loads((FOLDER / "refused_profiles.toml").read_text(encoding="utf-8"))


MEANS_MS = {  # object, operation, whether it succeeds
    (CATALOG, WRITE, True): 6.0,
    (METADATA, WRITE, True): 20.0,
    (CATALOG, CAS, True): 8.0,
    (CATALOG, CAS, False): 9.0,
    (LOG, APPEND, False): 7.0,
}


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


def test_a_good_file_gives_every_figure_it_states():
    profile = load_profile(str(FOLDER / "good_profile.toml"))

    assert (profile.name, profile.title, profile.vintage) == ("minio", "MinIO in the cellar", "user")
    assert profile.capabilities == {READ, WRITE, CAS, APPEND}
    assert profile.latency(CATALOG, READ).quantile(0.0) == 2.0
    for (object, op, success), mean_ms in MEANS_MS.items():
        assert profile.latency(object, op, success=success).mean() == mean_ms
    assert (profile.leg_share(CAS), profile.leg_share(READ)) == (0.8, 0.5)
    for held, expected in ((profile.contention[CAS], (3.5, 1.5)), (profile.throttling[APPEND], (4.5, 2.5))):
        assert (held.window_ms, held.extra.mean()) == expected
    crowd = profile.crowding[CAS]
    assert (crowd.window_ms, crowd.known) == (5.5, "measured")
    assert [(table.rivals, table.penalty.mean()) for table in crowd.tables] == [(1, 3.5), (7, 30.5)]
    assert (profile.writes_per_s_max, profile.head_before_read) == (50.0, {MANIFEST_LIST})
    assert (profile.prices[READ].usd_per_1000, profile.prices[READ].date) == (0.0004, "2026-01-31")
    assert profile.notes["write_limit"] == Note(known="published", source="the manual")
    assert profile.figures[READ, True].known == "assumed"  # it does not say


def test_a_file_without_a_name_is_called_after_itself(tmp_path):
    path = tmp_path / "cellar.toml"
    path.write_text(GOOD.replace('name = "minio"', ""), encoding="utf-8")

    assert load_profile(path).name == "cellar"


@pytest.mark.parametrize(("mistake", "expected"), REFUSED.items())
def test_each_mistake_is_named_with_what_is_allowed_and_what_to_do(problems, mistake, expected):
    old, new = mistake.split(" -> ")

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


READ_ONLY = 'capabilities = ["read"]\n[latency.read]\ndistribution = "fixed"\nms = 1.0\nsource = "ours"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            READ_ONLY + '[write_limit]\nwrites_per_s_max = 1.0\nsource = "ours"\n',
            ["write_limit limits conditional writes, and capabilities name none. Remove it."],
        ),
        (
            'capabilities = ["read"]\nlatency = 5\n',
            [
                "latency = 5 is not a table. Write [latency] and its keys below.",
                "latency.read is missing. Add it, or drop it from capabilities.",
            ],
        ),
    ],
)
def test_a_limit_needs_something_to_limit_and_a_latency_is_a_table(problems, text, expected):
    assert expected == problems(text)


def test_a_missing_file_is_told_with_the_built_in_names(tmp_path):
    with pytest.raises(ProfileError, match=r"nowhere\.toml' does not exist.*s3, s3x"):
        load_profile(tmp_path / "nowhere.toml")


def test_a_file_that_is_not_toml_is_told_so(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("name = ", encoding="utf-8")

    with pytest.raises(ProfileError, match=r"mine\.toml' is not valid TOML"):
        load_profile(path)
