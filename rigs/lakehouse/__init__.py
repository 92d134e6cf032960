"""A small lakehouse on one machine, and a log of all its clients tried: what ``endive verify replay`` is held to.

Spark with Iceberg's runtime, PyIceberg, a catalog on Postgres (``JdbcCatalog``, or Iceberg's own REST server before
it), files on a disk or in an S3 on this machine that answers after a delay. ``clients`` are those who write,
``services`` what they write to; ``python -m rigs.lakehouse`` lets them work and writes down what a user has
afterwards: the table's metadata, the log of every statement, Iceberg's commit reports, Spark's event log.

Nothing of the package is imported: run it in the checkout with a Python that has ``pyspark==4.0.1``:

    python -m venv spark4
    spark4/bin/pip install pyspark==4.0.1 'pandas<3' pyarrow s3fs 'pyiceberg[sql-postgres]' 'moto[server]'
    spark4/bin/python -m rigs.lakehouse --jars FOLDER --seconds 300 --out lakehouse.json.gz

FOLDER holds iceberg-spark-runtime-4.0_2.13-1.10.0.jar and the JDBC driver of Postgres; for ``--store s3`` or ``moto``
also iceberg-aws-bundle-1.10.0.jar, and for ``--catalog rest`` a folder ``rest`` with iceberg-core and its tests,
iceberg-aws, iceberg-open-api (test-fixtures), all 1.10.0 with what they need, and Jetty 11 (jetty-servlet).
``postgres`` and ``initdb`` are found on the path or in /usr/lib/postgresql.
"""
