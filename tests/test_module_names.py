"""One name, one meaning: which names of modules may stand in more than one package."""

from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "endive"

# ``endive NAME`` in cli/, and in another package the work that this command asks for.
OF_A_COMMAND = {"advise", "check", "compare", "explain", "limit", "observe", "providers", "replay", "report", "study"}
# The keys of a configuration in config/, and in another package what they configure.
OF_A_SECTION = {"arrivals", "catalog", "distribution", "simulation", "source"}
# One subject, looked at in two places.
OF_A_SUBJECT = {
    "knowledge",  # how well figures are known: of a simulation, and as its results say it
    "observer",  # who holds histories to be serial: in the reference engine, and in the compiled one
    "ordering",  # who orders commits: in the reference engine, and in the compiled one
    "planning",  # what an attempt plans: a txn of the reference engine, and one of the compiled engine
    "price",  # what requests cost: computed, and drawn
    "rules",  # what both engines decide by: of a catalog, and of a format
}
# A room of every format in formats/, and in another package the word in its plain sense.
OF_A_FORMAT = {
    *("attempt", "conflicts", "draws", "effects", "payments", "plan", "protocol", "table", "words"),
}

# A room of observation/ says what of a real table it is about.
OF_A_REAL_TABLE = {"catalog_profile", "catalogs", "figures", "folder", "history", "trace"}


def packages_by_name():
    modules = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    shared = {name for name, count in Counter(path.stem for path in modules).items() if count > 1}
    return {name: {path.parts[0] for path in modules if path.stem == name} for name in shared}


def test_a_name_stands_twice_only_where_it_means_the_same():
    assert OF_A_COMMAND | OF_A_SECTION | OF_A_SUBJECT | OF_A_FORMAT | OF_A_REAL_TABLE == set(packages_by_name())


def test_a_name_shared_with_a_command_or_a_section_stands_there_and_in_one_other_place():
    packages = packages_by_name()

    assert [] == [name for name in OF_A_COMMAND | OF_A_SECTION if len(packages[name] - {"observation"}) > 2]
    assert all("cli" in packages[name] for name in OF_A_COMMAND)
    assert all("config" in packages[name] for name in OF_A_SECTION)
