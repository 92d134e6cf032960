"""A Spark session on a real Iceberg, a function that lets a statement wait for its rival, and how a statement ended."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from verification import recordings

DATA: Final = Path(__file__).parents[2] / "verification/suites/java/data"
EXTENSIONS: Final = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
CATALOG_CLASS: Final = "org.apache.iceberg.spark.SparkCatalog"
ROW_LEVEL: Final = ("merge", "update", "delete")  # statements that have a mode and an isolation level of their own
WAIT_S: Final = 60.0
_NAMES: Final = re.compile(r"\[?(?:file:|s3:/)?/\S+|\b\d{15,}\b")
_CHARS: Final = 140


def start_spark(jars: list[Path], cores: int, settings: Mapping[str, str], java_options: str = "") -> Any:
    """A quiet session for short statements."""
    own = {
        "spark.jars": ",".join(str(jar) for jar in jars),
        "spark.sql.extensions": EXTENSIONS,
        "spark.driver.memory": "2g",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.log.level": "OFF",
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 {java_options}".rstrip(),
        "spark.python.unix.domain.socket.enabled": "true",
    }
    return recordings.start_spark(cores, {**own, **settings})


def catalog_settings(name: str, properties: Mapping[str, Any]) -> dict[str, str]:
    """A catalog of Iceberg under a name of Spark's."""
    prefix = f"spark.sql.catalog.{name}"
    return {prefix: CATALOG_CLASS, **{f"{prefix}.{key}": str(value) for key, value in properties.items()}}


def release_of(jar: Path) -> str:
    """Of Iceberg, as the jar's name has it."""
    return str(re.findall(r"\d+\.\d+\.\d+", jar.name)[-1])


class SparkJvm:
    """Spark's JVM as the catalog server wants it."""

    def __init__(self, spark: Any) -> None:
        self.iceberg = spark._jvm.org.apache.iceberg
        self._namespace = spark._sc._gateway.new_array(spark._jvm.java.lang.String, 1)
        self._namespace[0] = "db"

    def identifier(self, name: str) -> Any:
        """The name of a table."""
        return self.iceberg.catalog.TableIdentifier.of(self.iceberg.catalog.Namespace.of(self._namespace), name)


class Signal:
    """Two files: the victim's function has been reached, and it may go on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.begun, self.go = path.with_suffix(".begun"), path.with_suffix(".go")

    def reset(self) -> None:
        """Neither is there."""
        self.begun.unlink(missing_ok=True)
        self.go.unlink(missing_ok=True)

    def wait(self, thread: threading.Thread, is_begun: Callable[[], bool] = lambda: False) -> None:
        """Until the function was reached, or ``is_begun`` says so, or the thread has ended."""
        end_s = time.monotonic() + WAIT_S
        while thread.is_alive() and time.monotonic() < end_s and not self.begun.exists() and not is_begun():
            time.sleep(0.01)

    def function(self) -> Callable[[int], int]:
        """For Spark's Python workers: it answers its argument once it may go on."""
        begun, go = str(self.begun), str(self.go)

        def wait_for_rival(value: int) -> int:
            import time

            with open(begun, "w"):
                pass
            for _ in range(6000):
                if os.path.exists(go):
                    break
                time.sleep(0.02)
            return value

        return wait_for_rival


def ending(error: Exception) -> dict[str, str]:
    """What a statement that failed was told, without names of files."""
    text = str(error)
    matched = re.search(r"(org\.apache\.iceberg\.exceptions\.\w+|java\.lang\.\w+): ([^\n]*)", text)
    if matched is None:
        return {"outcome": "failed", "exception": type(error).__name__, "message": text[:_CHARS]}
    exception = matched[1].rsplit(".", 1)[-1]
    return {"outcome": "failed", "exception": exception, "message": _NAMES.sub("...", matched[2])[:_CHARS]}
