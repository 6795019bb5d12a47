"""A worker of another library: COUNT, SUM and AVG of income by a public key. Runs in an environment without Discreet.

python -m benchmarks.peer_work opendp|diffprivlib|tumult FILE province|place ROWS_PER_UNIT
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.people import PLACES, PROVINCES
from benchmarks.turns import serve

EPSILON = 0.01
BOUNDS = (0.0, 250_000.0)
MOST_ROWS = 20_000_000

Work = Callable[[], Mapping[str, float]]


def run_opendp(file: str, key: str, rows_per_unit: int) -> Work:
    """One query for all three; the mean measures its own sum and length, as Discreet's does."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    keys = pl.LazyFrame({key: _keys(key)})
    unit = dp.unit_of(contributions=rows_per_unit, identifier="id" if rows_per_unit > 1 else None)

    def work() -> Mapping[str, float]:
        start = time.perf_counter()
        context = dp.Context.compositor(
            data=pl.scan_parquet(file),
            privacy_unit=unit,
            privacy_loss=dp.loss_of(epsilon=EPSILON),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=[], max_length=MOST_ROWS)],
        )
        query = context.query()
        if rows_per_unit > 1:
            query = query.truncate_per_group(rows_per_unit)
        income: Any = pl.col("income").fill_null(0.0).fill_nan(0.0)
        total, mean = income.dp.sum(BOUNDS).alias("total"), income.dp.mean(BOUNDS).alias("mean")
        query.group_by(key).agg(dp.len(signed=True), total, mean).with_keys(keys).release().collect().rows()
        return {"whole": time.perf_counter() - start}

    return work


def run_diffprivlib(file: str, key: str, rows_per_unit: int) -> Work:
    """One call per key and aggregate over sorted rows; keys are disjoint, so each may spend the whole epsilon."""
    import numpy as np
    import polars as pl
    from diffprivlib import BudgetAccountant, tools  # type: ignore[import-not-found]

    if rows_per_unit > 1:
        sys.exit("rows per unit are not bounded")
    values = np.array(_keys(key))
    share = EPSILON / 3

    def work() -> Mapping[str, float]:
        start = time.perf_counter()
        rows = pl.read_parquet(file, columns=[key, "income"]).sort(key)
        found, income = rows[key].to_numpy(), rows["income"].to_numpy()
        starts, ends = np.searchsorted(found, values, "left"), np.searchsorted(found, values, "right")
        answer = []
        for begin, end in zip(starts.tolist(), ends.tolist(), strict=True):
            group = income[begin:end]
            accountant = BudgetAccountant(epsilon=EPSILON)
            shared = {"epsilon": share, "accountant": accountant}
            answer.append(
                (
                    tools.count_nonzero(np.ones(len(group)), **shared),
                    tools.sum(group, bounds=BOUNDS, **shared),
                    tools.mean(group, bounds=BOUNDS, **shared),
                )
            )
        return {"whole": time.perf_counter() - start}

    return work


def run_tumult(file: str, key: str, rows_per_unit: int) -> Work:
    """Two queries in a new session each time; the mean is their quotient.

    Its own average maps every row by a function of Python, which takes many times as long. Income is in whole cents, as
    in Discreet, so that its noise is discrete too. Spark is its own, on two cores.
    """
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as spark
    from tmlt.analytics import (  # type: ignore[import-not-found]
        AddOneRow,
        AddRowsWithID,
        KeySet,
        MaxRowsPerID,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    warehouse = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, warehouse, ignore_errors=True)
    settings = {
        "spark.driver.memory": "4g",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.warehouse.dir": warehouse,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    opened = builder.getOrCreate()
    keys = KeySet.from_dict({key: _keys(key)})
    unit = AddOneRow() if rows_per_unit == 1 else AddRowsWithID("id")
    bounds = [int(100 * bound) for bound in BOUNDS]

    def work() -> Mapping[str, float]:
        start = time.perf_counter()
        cents = spark.round(spark.col("income") * 100).cast("long").alias("cents")
        columns = [] if rows_per_unit == 1 else ["id"]
        rows = opened.read.parquet(file).select(*columns, spark.col(key).cast("long").alias(key), cents)
        session = Session.from_dataframe(PureDPBudget(EPSILON), "rows", rows, protected_change=unit)
        asked = QueryBuilder("rows")
        if rows_per_unit > 1:
            asked = asked.enforce(MaxRowsPerID(rows_per_unit))
        grouped = asked.groupby(keys)
        count = session.evaluate(grouped.count(), PureDPBudget(EPSILON / 2)).collect()
        total = session.evaluate(grouped.sum("cents", *bounds), session.remaining_privacy_budget).collect()
        assert len(count) == len(total) == len(_keys(key))
        return {"whole": time.perf_counter() - start}

    return work


def _keys(key: str) -> list[int]:
    return list(PROVINCES) if key == "province" else list(range(PLACES))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["POLARS_MAX_THREADS"] = "2"  # before Polars is imported
    os.environ["PYSPARK_PYTHON"] = sys.executable  # for the functions of Python that Tumult's noise is drawn in
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    workers: dict[str, Callable[[str, str, int], Work]] = {
        "opendp": run_opendp,
        "diffprivlib": run_diffprivlib,
        "tumult": run_tumult,
    }
    serve(workers[sys.argv[1]](sys.argv[2], sys.argv[3], int(sys.argv[4])))
