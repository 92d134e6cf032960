"""The txns of a sweep as a real Iceberg table, read by another implementation of Iceberg."""

import os
import sys

import pyarrow.compute as pc
import pyarrow.dataset
import pytest
from tests.integration.command import ran
from tests.pipeline.conftest import STUDY

from endive.errors import ConfigError
from endive.pipeline import SweepFolder
from endive.pipeline.dataset.dataset_table import RUNTIME, check_table_name, write_table
from verification.java_rig.jars import cache_folder, fetch

_, ARTIFACT, RELEASE = RUNTIME.split(":")
CATALOG = "spark.sql.catalog.lake"


@pytest.mark.parametrize("name", ["txns", "db.txns", "lake.db.", "lake.db.a b", "lake.db.x; drop table y"])
def test_a_name_that_is_not_of_a_table_in_a_catalog_is_refused(name):
    with pytest.raises(ConfigError, match=r"is no name of a table\. Give catalog\.database\.name"):
        check_table_name(name)


def test_a_catalog_that_the_session_does_not_know_is_told_with_its_settings(spark, tmp_path):
    with pytest.raises(ConfigError, match=r"knows no catalog 'lake'.* --conf spark.sql.catalog.lake=org\.apache"):
        write_table(spark, SweepFolder(tmp_path, {}), "lake.db.txns")


@pytest.mark.slow
def test_the_table_has_the_txns_of_the_files_in_partitions_of_points(tmp_path):
    """Needs the PySpark that Iceberg's runtime is made for: PYSPARK_FOR_ICEBERG is a folder it is installed in."""
    if not (place := os.environ.get("PYSPARK_FOR_ICEBERG")):
        pytest.skip("PYSPARK_FOR_ICEBERG is not set: pip install --target FOLDER 'pyspark==4.1.*'")
    tables = pytest.importorskip("pyiceberg.table")
    jar = cache_folder() / f"{ARTIFACT}-{RELEASE}.jar"
    if not jar.is_file():
        fetch(ARTIFACT, cache_folder(), RELEASE)
    study = tmp_path / "small.toml"
    study.write_text(STUDY)
    settings = {
        "spark.jars": jar,
        CATALOG: "org.apache.iceberg.spark.SparkCatalog",
        f"{CATALOG}.type": "hadoop",
        f"{CATALOG}.warehouse": tmp_path / "warehouse",
    }
    conf = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    options = ("--out", tmp_path / "out", "--master", "local[2]", "--table", "lake.db.txns", *conf)
    done = ran("sweep", study, *options, PYTHONPATH=os.pathsep.join([place, *sys.path]))

    assert 0 == done.returncode, done.stderr
    newest = max((tmp_path / "warehouse/db/txns/metadata").glob("v*.metadata.json"))
    table = tables.StaticTable.from_metadata(str(newest))
    files = pyarrow.dataset.dataset(tmp_path / "out" / "transactions", partitioning="hive").to_table()
    assert ["study", "point"] == [field.name for field in table.spec().fields]
    assert f"{files.num_rows:,} txns in the table lake.db.txns" in done.stdout
    rows = table.scan(selected_fields=("run_id", "txn_id", "total_latency_ms")).to_arrow()
    keys = [("run_id", "ascending"), ("txn_id", "ascending")]
    wanted = files.select(rows.column_names).cast(rows.schema)
    assert wanted.sort_by(keys).equals(rows.sort_by(keys))
    of_point = table.scan(row_filter="point = 3").to_arrow().num_rows
    assert pc.sum(pc.equal(files["point"], 3)).as_py() == of_point
