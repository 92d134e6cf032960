"""A JVM with Iceberg in it, driven from Python over py4j: no Java is written and no Spark session started.

What is done with a table is in ``rigs.java.operations``.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from endive.errors import EngineError
from endive.pipeline.spark.java import provide_java
from endive.verification.suite import UnavailableError
from rigs.java.jars import find_jars, java_path, load_py4j

DATABASE: Final = "jdbc:derby:memory:endive;create=true"
CATALOG_NAME: Final = "local"  # the same for every client of the database: it is part of a table's key
HEAP: Final = "-Xmx1g"
Java = Any  # whatever lives in the JVM


class IcebergJvm:
    """One JVM; a context manager that ends it. ``jvm`` is py4j's view of its classes."""

    def __init__(
        self,
        folder: Path | None = None,
        release: str | None = None,
        *,
        is_catalog_logged: bool = False,
        worker_threads: int | None = None,
    ) -> None:
        try:
            provide_java()
        except EngineError as error:
            raise UnavailableError(str(error).replace("Spark needs", "Iceberg needs")) from None
        jars, self.version = find_jars(folder, release)
        py4j = load_py4j()
        self._scratch = tempfile.TemporaryDirectory(prefix="endive-iceberg-")
        self.database_log = Path(self._scratch.name) / "derby.log"
        options = [HEAP, f"-Dderby.stream.error.file={self.database_log}", "-Duser.timezone=UTC"]
        if is_catalog_logged:
            options.append("-Dderby.language.logStatementText=true")
        if worker_threads is not None:
            options.append(f"-Diceberg.worker.num-threads={worker_threads}")
        port, self._process = py4j.launch_gateway(
            classpath=os.pathsep.join(str(jar) for jar in jars),
            javaopts=options,
            java_path=java_path(),
            die_on_exit=True,
            return_proc=True,
            redirect_stdout=subprocess.DEVNULL,
            redirect_stderr=subprocess.DEVNULL,
        )
        self.gateway: Java = py4j.JavaGateway(gateway_parameters=py4j.GatewayParameters(port=port, auto_convert=True))
        self.jvm: Java = self.gateway.jvm
        self.iceberg: Java = self.jvm.org.apache.iceberg
        self._ends: list[Any] = []
        self._is_database_made = False

    def __enter__(self) -> IcebergJvm:
        return self

    def __exit__(self, *_: object) -> None:
        for catalog in self._ends:
            try:
                catalog.close()
            except Exception:
                pass  # it goes with its JVM
        self.gateway.shutdown()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        self._process.wait(timeout=30)
        self._scratch.cleanup()

    def jdbc_catalog(self, properties: Mapping[str, str]) -> Java:
        """A client of the one database in this JVM."""
        own = {"uri": DATABASE, "jdbc.user": "endive", "jdbc.password": "endive"}
        if self._is_database_made:  # Iceberg looks for its tables in small letters, and Derby keeps capitals
            own["jdbc.init-catalog-tables"] = "false"
        self._is_database_made = True
        return self._catalog(self.iceberg.jdbc.JdbcCatalog(), {**properties, **own})

    def rest_catalog(self, properties: Mapping[str, str], uri: str) -> Java:
        """A client of a REST catalog."""
        return self._catalog(self.iceberg.rest.RESTCatalog(), {**properties, "uri": uri})

    def _catalog(self, catalog: Java, properties: Mapping[str, str]) -> Java:
        given = self.jvm.java.util.HashMap()
        for key, value in properties.items():
            given.put(key, value)
        catalog.initialize(CATALOG_NAME, given)
        self._ends.append(catalog)
        return catalog

    def identifier(self, name: str) -> Java:
        """The name of a table; its namespace need not exist."""
        levels = self.gateway.new_array(self.jvm.java.lang.String, 1)
        levels[0] = "db"
        return self.iceberg.catalog.TableIdentifier.of(self.iceberg.catalog.Namespace.of(levels), name)
