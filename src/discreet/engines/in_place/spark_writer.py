"""Prepared rows written by Spark itself into a schema or folder of Discreet's own.

What is written under a name is never changed, so a failure in the middle leaves a name that nobody reads.
"""

from __future__ import annotations

from typing import Any, Final

from discreet.catalogue import say
from discreet.engines.in_place.spark_dialect import SPARK
from discreet.engines.in_place.spark_tables import SparkRows, file_path, literal_path, written_table
from discreet.errors import EngineUnavailable
from discreet.workspace import StoredRows

__all__ = ["SparkWriter"]

_DELTA: Final = "delta:"
_PROBE: Final = "discreet_probe"


class SparkWriter(SparkRows):
    """Writes each version of prepared rows once, as Parquet files, or as a table of the catalogue's own kind."""

    def check_home(self, home: str) -> None:
        try:
            there = self._has_folder(_folder(home)) if "/" in home else self._session.catalog.databaseExists(home)
            if not there:
                raise self._refusal(home, say("is not there. Make it, for Discreet alone"), "not there")
            self._try_to_write(f"{_folder(home).rstrip('/')}/{_PROBE}" if "/" in home else f"{home}.{_PROBE}")
        except EngineUnavailable:
            raise
        except Exception as error:
            reason = type(error).__name__
            raise self._refusal(
                home, say("may not be written to: {reason}. Grant this user the right", reason=reason), reason
            ) from None

    def write(self, name: str, select: str) -> StoredRows:
        self._save(name, self._session.sql(select))
        if "/" in name and not name.startswith(_DELTA):
            written = self._session.read.parquet(literal_path(name))
            return StoredRows(name, files=tuple(map(file_path, written.inputFiles())))
        state = self._newest("delta", written_table(name)) if "/" in name else self._state(name)[0]
        if state is None:
            raise self._refusal(name, say("is kept in a way that has no versions and no files to list"), "no state")
        return StoredRows(name, files=state.files or (), snapshot=state.version)

    def finish(self) -> None:
        """Every file is where it stays once it is written."""

    def remove(self, name: str) -> None:
        try:
            self._remove(name)
        except Exception as error:
            reason = type(error).__name__
            raise self._refusal(
                name, say("cannot be removed: {reason}. Grant this user the right", reason=reason), reason
            ) from None

    def _remove(self, name: str) -> None:
        if "/" not in name:
            self._session.sql(f"DROP TABLE IF EXISTS {SPARK.table(name)}").toArrow()
        elif hasattr(self._session, "_jvm"):
            path = self._session._jvm.org.apache.hadoop.fs.Path(_folder(name))
            path.getFileSystem(self._session._jsparkSession.sessionState().newHadoopConf()).delete(path, True)
        elif self._has_folder(_folder(name)):
            # Spark Connect removes no folders, but it leaves no row in it.
            self._nothing().write.mode("overwrite").parquet(_folder(name))

    def _try_to_write(self, probe: str) -> None:
        self._remove(probe)
        if "/" in probe:
            self._nothing().write.mode("overwrite").parquet(probe)
        else:
            self._save(probe, self._nothing())
        self._remove(probe)

    def _nothing(self) -> Any:
        return self._session.sql("SELECT 1 AS one WHERE false")

    def _save(self, name: str, frame: Any) -> None:
        if "/" not in name:
            frame.writeTo(SPARK.table(name)).create()
        elif name.startswith(_DELTA):
            frame.write.format("delta").save(_folder(name))
        else:
            frame.write.option("compression", "zstd").parquet(name)

    def _has_folder(self, path: str) -> bool:
        from pyspark.errors import AnalysisException

        reader = self._session.read.option("recursiveFileLookup", "true")
        try:
            _ = reader.format("binaryFile").load(literal_path(path)).schema
        except AnalysisException:
            return False
        return True

    def _refusal(self, name: str, why: str, reason: str) -> EngineUnavailable:
        facts = {"name": name, "remote": self._remote, "why": why}
        message = (
            say("folder '{name}' of Spark at '{remote}' {why}.", **facts)
            if "/" in name
            else say("schema '{name}' of Spark at '{remote}' {why}.", **facts)
        )
        return EngineUnavailable(message, remote=self._remote, reason=reason)


def _folder(name: str) -> str:
    return name.removeprefix(_DELTA)
