"""Read-only SQL. That no database outside the root is opened is tested in test_confinement."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Module, Refuse

Value = Callable[..., Any]

MANY_SEARCHES = f"SELECT {'instr(a, b) + ' * 90}1 FROM x"
SCHEMA = """
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, photo BLOB, height REAL);
    INSERT INTO person VALUES (1, 'Ada', x'00ff', 1.65), (2, 'Grace', NULL, NULL);
    CREATE VIEW names AS SELECT name FROM person;
    CREATE VIEW broken AS SELECT missing FROM nowhere;
    CREATE INDEX by_name ON person (name);
"""


def make(path: Path, script: str = SCHEMA) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


@pytest.fixture
def database(root: Path) -> Path:
    return make(root / "people.db")


@pytest.fixture
def rows(value: Value, database: Path) -> Callable[..., Any]:
    def query(text: str, *parameters: object) -> Any:
        given = {"parameters": list(parameters)} if parameters else {}
        return value("query_sqlite", path=database.name, query=text, **given)["rows"]

    return query


@pytest.fixture
def refused(refuse: Refuse, database: Path) -> Callable[..., str]:
    def query(text: str, *parameters: object) -> str:
        return refuse("query_sqlite", path=database.name, query=text, parameters=list(parameters))

    return query


def test_returns_rows_by_column_name(value: Value, database: Path) -> None:
    query = "SELECT id, name, height FROM person ORDER BY id"
    assert value("query_sqlite", path=database.name, query=query) == {
        "columns": ["id", "name", "height"],
        "rows": [
            {"id": 1, "name": "Ada", "height": 1.65},
            {"id": 2, "name": "Grace", "height": None},
        ],
        "row_count": 2,
        "truncated": False,
    }


def test_parameters_are_values_and_never_sql(rows: Callable[..., Any]) -> None:
    assert rows("SELECT id FROM person WHERE name = ?", "Ada") == [{"id": 1}]
    assert rows("SELECT id FROM person WHERE name = ?", "' OR 1=1 --") == []
    values = [1.5, True, None, "x"]
    assert rows("SELECT ?, ?, ?, ?", *values) == [{"?": 1.5, "?_2": 1, "?_3": None, "?_4": "x"}]


def test_values_that_json_lacks_are_written_another_way(rows: Callable[..., Any]) -> None:
    assert rows("SELECT photo FROM person WHERE id = 1") == [{"photo": {"base64": "AP8="}}]
    assert rows("SELECT 9e999 AS a, -9e999 AS b") == [{"a": "inf", "b": "-inf"}]
    assert rows("SELECT CAST(x'ff61' AS TEXT) AS bad") == [{"bad": "\ufffda"}]


def test_no_value_of_a_repeated_column_is_lost(rows: Callable[..., Any]) -> None:
    assert rows("SELECT 1 AS a, 2 AS a, 3 AS a_2") == [{"a": 1, "a_2": 2, "a_2_2": 3}]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name FROM names",
        "WITH a AS (SELECT 1 AS b) SELECT b FROM a",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT * FROM n",
        "VALUES (1), (2)",
        "SELECT name, sql FROM sqlite_master",
        "PRAGMA table_info(person)",
        "SELECT * FROM pragma_table_info('person')",
        "SELECT * FROM pragma_index_list('person')",
        "PRAGMA table_list",
        "EXPLAIN QUERY PLAN SELECT * FROM person",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT count(*), upper(name), row_number() OVER () FROM person GROUP BY name",
        "SELECT 1; -- and nothing more",
        "SELECT printf('%.2f', 1.5), format('%d', 1)",
    ],
)
def test_reading_of_all_kinds_is_allowed(rows: Callable[..., Any], query: str) -> None:
    assert rows(query)


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO person (name) VALUES ('Eve')",
        "UPDATE person SET name = 'Eve' RETURNING name",
        "DELETE FROM person",
        "DROP TABLE person",
        "CREATE TABLE other (a)",
        "CREATE TEMP TABLE other (a)",
        "CREATE VIRTUAL TABLE temp.x USING fts5(a)",
        "ALTER TABLE person ADD COLUMN a",
        "REPLACE INTO person VALUES (1, 'Eve', NULL, NULL)",
        "ATTACH 'other.db' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "SAVEPOINT a",
        "PRAGMA query_only = OFF",
        "PRAGMA journal_mode = WAL",
        "PRAGMA writable_schema = ON",
        "PRAGMA user_version = 5",
        "PRAGMA database_list",
        "SELECT * FROM pragma_database_list",
        "SELECT 1 FROM pragma_query_only(0)",
        "SELECT load_extension('evil')",
        "SELECT LOAD_EXTENSION('evil', 'entry')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT readfile('/etc/passwd')",
        "UPDATE sqlite_master SET sql = ''",
        "SELECT 1; DROP TABLE person",
        "SELEC 1",
        "-- nothing",
        "SELECT missing FROM broken",
        "SELECT missing",
    ],
)
def test_all_else_is_refused_and_changes_nothing(
    refused: Callable[..., str], database: Path, query: str
) -> None:
    before = database.read_bytes()
    assert refused(query)
    assert database.read_bytes() == before
    assert os.listdir(database.parent) == [database.name]


def test_a_refusal_says_what_is_allowed(refused: Callable[..., str]) -> None:
    assert refused("DELETE FROM person").startswith("only reading is allowed, with one SELECT")
    assert refused("VACUUM INTO 'x'").startswith("only reading is allowed, with one SELECT")
    assert refused("  ") == "the query returns nothing: write one SELECT statement"
    assert "syntax error" in refused("SELEC 1")


@pytest.mark.parametrize("parameters", [(), (1, 2), (2**63,)])
def test_parameters_that_do_not_fit_are_refused(
    refused: Callable[..., str], parameters: tuple[int, ...]
) -> None:
    assert refused("SELECT ?", *parameters).startswith("the query failed")


def test_the_number_of_rows_is_limited(value: Value, database: Path) -> None:
    fewer = value("query_sqlite", path=database.name, query="SELECT * FROM person", max_rows=1)
    assert (fewer["row_count"], fewer["truncated"]) == (1, True)
    exact = value("query_sqlite", path=database.name, query="SELECT * FROM person", max_rows=2)
    assert (exact["row_count"], exact["truncated"]) == (2, False)


def test_the_size_of_the_answer_is_limited(value: Value, database: Path) -> None:
    query = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) "
        "SELECT hex(zeroblob(50000)) AS zeros FROM n"
    )
    answer = value("query_sqlite", path=database.name, query=query, max_rows=1000)
    assert (answer["row_count"], answer["truncated"]) == (9, True)


def test_a_row_that_is_longer_than_an_answer_may_be_is_refused(
    refused: Callable[..., str],
) -> None:
    assert refused(f"SELECT {', '.join(['hex(zeroblob(240000))'] * 3)}") == (
        "one row holds more than the 1,000,000 characters of a result: "
        "choose fewer columns, or parts of them with substr"
    )
    assert refused(f"SELECT {', '.join(['hex(zeroblob(240000))'] * 200)}")


def test_the_names_of_columns_count_as_characters(value: Value, database: Path) -> None:
    name = "n" * 5000
    query = (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) "
        f"SELECT i AS {name} FROM n"
    )
    answer = value("query_sqlite", path=database.name, query=query, max_rows=900)
    assert answer["truncated"]
    assert len(json.dumps(answer["rows"])) < 1_100_000


def test_what_a_query_sorts_fills_neither_memory_nor_disk(refused: Callable[..., str]) -> None:
    query = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT zeroblob(400000) FROM n ORDER BY i DESC"
    )
    assert refused(query) == "the query failed: it needs too much memory"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT zeroblob(1000000000)",
        "SELECT hex(zeroblob(400000))",
        "SELECT replace(hex(zeroblob(200000)), '0', 'xxxx')",
        f"SELECT {', '.join(['1'] * 201)}",
        f"SELECT {'-' * 5000} 1".replace("--", "- "),
        " UNION ALL ".join(["SELECT 1"] * 60),
        f"SELECT 'a' LIKE '{'%a' * 200}'",
        f"SELECT {'(' * 200}1{')' * 200} + {'abs(' * 120}1{')' * 120}",
    ],
)
def test_giant_values_and_queries_are_refused(refused: Callable[..., str], query: str) -> None:
    assert refused(query).startswith("the query failed")


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "SELECT count(*) FROM " + ", ".join(f"json_each('[{'1,' * 40}1]') j{i}" for i in range(9)),
    ],
)
def test_an_endless_query_is_stopped(
    refused: Callable[..., str], module: Module, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(module("query_sqlite"), "_SECONDS", 0.1)
    monkeypatch.setattr(module("query_sqlite"), "_SECONDS_TO_START", 1.0)
    assert refused(query) == "the query takes longer than 0.1 seconds"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT printf('%.*c', 1000000000, 'x')",
        "WITH x(a, b) AS (SELECT zeroblob(400000), zeroblob(200000) || x'01') " + MANY_SEARCHES,
        "SELECT ltrim(hex(zeroblob(240000)), replace(hex(zeroblob(20000)), '0', '1') || '0')",
    ],
)
def test_a_function_that_takes_ages_is_stopped_too(
    refused: Callable[..., str], module: Module, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(module("query_sqlite"), "_SECONDS", 0.2)
    monkeypatch.setattr(module("query_sqlite"), "_SECONDS_TO_START", 0.5)
    assert refused(query) == "the query takes longer than 0.2 seconds"


def test_a_wide_table_and_a_giant_value_do_not_spoil_the_rest(value: Value, root: Path) -> None:
    columns = ", ".join(f"c{number}" for number in range(600))
    script = f"CREATE TABLE wide ({columns}, photo); INSERT INTO wide (c0, photo) VALUES (7, NULL);"
    make(root / "wide.db", f"{script} UPDATE wide SET photo = zeroblob(2000000);")
    answer = value(
        "query_sqlite", path="wide.db", query="SELECT c0, length(photo) AS size FROM wide"
    )
    assert answer["rows"] == [{"c0": 7, "size": 2_000_000}]


def test_a_path_is_never_read_as_an_address(value: Value, root: Path) -> None:
    name = "a?mode=rwc&vfs=x#%41.db"
    make(root / name)
    query = "SELECT count(*) AS people FROM person"
    assert value("query_sqlite", path=name, query=query)["rows"] == [{"people": 2}]
    assert os.listdir(root) == [name]


def test_a_database_in_wal_mode_is_read_with_what_is_not_yet_in_it(
    value: Value, root: Path
) -> None:
    with contextlib.closing(sqlite3.connect(root / "wal.db", isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t (a)")
        writer.execute("INSERT INTO t VALUES (1)")
        answer = value("query_sqlite", path="wal.db", query="SELECT a FROM t")
        writer.execute("INSERT INTO t VALUES (2)")
    assert answer["rows"] == [{"a": 1}]


def test_a_locked_database_is_a_refusal(
    refuse: Refuse, database: Path, module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module("query_sqlite"), "_SECONDS_TO_WAIT_FOR_A_LOCK", 0.0)
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        message = refuse("query_sqlite", path=database.name, query="SELECT * FROM person")
        other.execute("ROLLBACK")
    assert message == "the query failed: database is locked"


def test_reading_keeps_the_locks_of_this_process(
    value: Value, refuse: Refuse, database: Path, module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module("query_sqlite"), "_SECONDS_TO_WAIT_FOR_A_LOCK", 0.0)
    script = f"""
import sqlite3, sys
try:
    sqlite3.connect({str(database)!r}, timeout=0).execute("DELETE FROM person")
except sqlite3.OperationalError as error:
    sys.exit(str(error))
"""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        value("query_sqlite", path=database.name, query="SELECT * FROM person")
        refuse("query_sqlite", path=database.name, query="SELECT missing FROM person")
        other = run_python(script)
        writer.execute("ROLLBACK")
    assert other == "database is locked"


def run_python(script: str) -> str:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr.strip()


def test_what_is_no_database_is_refused(refuse: Refuse, root: Path) -> None:
    (root / "text").write_text("no database " * 1000, "utf-8")
    message = refuse("query_sqlite", path="text", query="SELECT 1")
    assert message == "the query failed: file is not a database"
    assert "no such file" in refuse("query_sqlite", path="nothing.db", query="SELECT 1")
    assert os.listdir(root) == ["text"]


def test_a_file_exchanged_while_it_is_opened_is_refused(
    refuse: Refuse, database: Path, module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make(database.with_name("other.db"))
    ask = module("query_sqlite")._ask

    def exchanging(request: str) -> Any:
        os.replace(other, database)
        return ask(request)

    monkeypatch.setattr(module("query_sqlite"), "_ask", exchanging)
    message = refuse("query_sqlite", path=database.name, query="SELECT 1")
    assert message == "'people.db' was replaced while it was being opened"


def test_a_child_that_dies_or_does_not_start_is_a_refusal(
    refuse: Refuse, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    message = refuse("query_sqlite", path=database.name, query="SELECT 1")
    assert message == "the query failed: it could not be run"
    monkeypatch.setattr(sys, "executable", "/nothing/here")
    message = refuse("query_sqlite", path=database.name, query="SELECT 1")
    assert message.startswith("cannot start Python to run the query")


def test_a_system_without_directory_descriptors_is_served_too(
    rows: Callable[..., Any], refuse: Refuse, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "supports_dir_fd", set())
        assert rows("SELECT count(*) AS people FROM person") == [{"people": 2}]
        assert "not a file" in refuse("query_sqlite", path=".", query="SELECT 1")
    assert root.is_dir()
