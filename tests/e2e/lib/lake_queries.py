#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lake_queries.py clickhouse|spark PAGE LAKE OLD NEW FUNCTION: every query of docs/formats/parquet.md over the
recordings in LAKE, by ClickHouse (chdb) or Spark, with what the page says to change for it. Prints name and rows of each, as
check_parquet.py --queries does for DuckDB."""
import decimal
import glob
import os
import re
import sys


def plain(value):
    if isinstance(value, decimal.Decimal):
        return int(value) if value == int(value) else float(value)
    return value


def clickhouse():
    import chdb.session
    session = chdb.session.Session()

    def ask(sql):
        sql = re.sub(r"'([^']*\.parquet)'", r"file('\1')", sql)
        sql = re.sub(r"(\w+) // (\d+)", r"intDiv(\1, \2)", sql)
        text = session.query(sql, "JSONCompactEachRow").data()
        import json
        return [tuple(int(v) if isinstance(v, str) and re.fullmatch(r"-?\d+", v) else v for v in json.loads(line))
                for line in text.splitlines()]
    return ask


def spark(lake):
    from pyspark.sql import SparkSession
    session = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
               .config("spark.sql.shuffle.partitions", "2").config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.driver.host", "127.0.0.1").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    names = {os.path.basename(path)[:-len(".parquet")] for path in glob.glob(lake + "/*/*.parquet")}
    for name in names:
        session.read.parquet(*glob.glob(f"{lake}/*/{name}.parquet")).createOrReplaceTempView(name)

    def ask(sql):
        sql = re.sub(r"'[^']*/(\w+)\.parquet'", r"\1", sql)
        sql = re.sub(r"(\w+) // (\d+)", r"\1 DIV \2", sql)
        return [tuple(plain(v) for v in row) for row in session.sql(sql.rstrip().rstrip(";")).collect()]
    return ask


def main():
    engine, page, lake, old, new, function = sys.argv[1:]
    ask = clickhouse() if engine == "clickhouse" else spark(lake)
    with open(page, encoding="utf-8") as file:
        found = re.findall(r"```sql duckdb (\w+)\n(.*?)```", file.read(), re.S)
    for name, sql in found:
        for a, b in (("lake/", lake + "/"), ("'OLD'", f"'{old}'"), ("'NEW'", f"'{new}'"), ("FUNCTION", function)):
            sql = sql.replace(a, b)
        print(name, *ask(sql), sep="\t")


main()
