"""Tables of a real Spark with Iceberg's runtime, observed by every way that leads to them.

Needs ``ENDIVE_SPARK_PYTHON`` (a Python with pyspark: 3.5, 4.0 or 4.1) and ``ENDIVE_ICEBERG_JARS`` (a folder with
Iceberg's runtime for it).
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from endive.cli.main import app

PYTHON, JARS = os.environ.get("ENDIVE_SPARK_PYTHON"), os.environ.get("ENDIVE_ICEBERG_JARS")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (PYTHON and JARS), reason="ENDIVE_SPARK_PYTHON and ENDIVE_ICEBERG_JARS name no Spark"),
]
APPENDS = 105  # manifests above the hundred from which on appends merge them
SCRIPT = f"""
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").getOrCreate()
sql = spark.sql
for version in (1, 2, 3):
    sql(f"CREATE TABLE lake.db.v{{version}} (id bigint, p int) USING iceberg PARTITIONED BY (p) "
        f"TBLPROPERTIES ('format-version' = '{{version}}', 'commit.manifest-merge.enabled' = 'false')")
    for turn in range({APPENDS} if version == 2 else 5):
        sql(f"INSERT INTO lake.db.v{{version}} VALUES ({{turn}}, {{turn % 3}})")
    sql(f"DELETE FROM lake.db.v{{version}} WHERE p = 1")
sql("CREATE TABLE lake.db.expired (id bigint) USING iceberg")
for turn in range(8):
    sql(f"INSERT INTO lake.db.expired VALUES ({{turn}})")
sql("CALL lake.system.expire_snapshots(table => 'db.expired', older_than => TIMESTAMP '2100-01-01 00:00:00', "
    "retain_last => 4)")
sql("ALTER TABLE lake.db.v3 CREATE BRANCH audit")
sql("INSERT INTO lake.db.v3.branch_audit VALUES (100, 2)")
"""


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A Hadoop catalog with a table of each format version, one whose snapshots expired, and a branch."""
    folder = tmp_path_factory.mktemp("lake")
    version = subprocess.run(
        [PYTHON, "-c", "import pyspark; print(pyspark.__version__)"], capture_output=True, text=True
    )
    line = ".".join(version.stdout.split(".")[:2])
    (runtime,) = sorted(Path(JARS).glob(f"iceberg-spark-runtime-{line}_*.jar"))[-1:]
    (folder / "spark-defaults.conf").write_text(
        f"spark.jars {runtime}\n"
        "spark.sql.extensions org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions\n"
        "spark.sql.catalog.lake org.apache.iceberg.spark.SparkCatalog\n"
        "spark.sql.catalog.lake.type hadoop\n"
        f"spark.sql.catalog.lake.warehouse file://{folder}/warehouse\n"
        "spark.ui.enabled false\n"
    )
    (folder / "make.py").write_text(SCRIPT)
    environment = {**os.environ, "SPARK_CONF_DIR": str(folder), "PYSPARK_PYTHON": PYTHON}
    environment.pop("SPARK_HOME", None)
    submit = Path(PYTHON).parent / "spark-submit"
    done = subprocess.run([submit, folder / "make.py"], env=environment, capture_output=True, text=True, timeout=900)
    assert 0 == done.returncode, done.stderr[-2000:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENDIVE_SPARK_SUBMIT", str(submit))
        patch.setenv("SPARK_CONF_DIR", str(folder))
        patch.setenv("PYSPARK_PYTHON", PYTHON)
        yield folder


def newest_metadata(lake, table):
    folder = lake / "warehouse" / "db" / table / "metadata"
    return folder / f"v{(folder / 'version-hint.text').read_text().strip()}.metadata.json"


def observed(tmp_path, *words):
    result = invoke("observe", *words, "--json", "--out", tmp_path / "seen")
    assert 0 == result.exit_code, result.output
    (seen,) = json.loads(result.stdout)["tables"]
    return seen


@pytest.mark.parametrize(
    ("table", "commits", "version"), [("v1", 6, 1), ("v2", APPENDS + 1, 2), ("v3", 6, 3), ("expired", 4, 2)]
)
def test_spark_and_the_metadata_file_say_the_same(lake, tmp_path, table, commits, version):
    through_spark = observed(tmp_path / "spark", f"lake.db.{table}", "--spark")
    from_file = observed(tmp_path / "file", newest_metadata(lake, table))

    assert (commits, version) == (from_file["commits"], from_file["format_version"])
    assert version == through_spark["format_version"]
    assert through_spark["operations"] == from_file["operations"] or table == "v3"  # whose branch Spark counts
    assert through_spark["size"]["manifests"] == from_file["size"]["manifests"]


def test_an_observed_table_is_replayed_and_asked(lake, tmp_path):
    observed(tmp_path, newest_metadata(lake, "v2"))

    for words in (("replay", tmp_path / "seen", "--seeds", "2"), ("run", tmp_path / "seen")):
        result = invoke(*words)
        assert 0 == result.exit_code, result.output


def test_a_table_that_spark_does_not_know_says_what_is_needed(lake, tmp_path):
    result = invoke("observe", "lake.db.none", "--spark", "--out", tmp_path / "seen")

    assert 2 == result.exit_code
    assert "cannot be read through Spark" in result.output
    assert "ENDIVE_SPARK_SUBMIT" in result.output
