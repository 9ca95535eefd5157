"""Read-only SQL. That no database outside the root is opened is tested in test_confinement."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Module, Refuse

Value = Callable[..., Any]

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


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name FROM names",
        "WITH a AS (SELECT 1 AS b) SELECT b FROM a",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT * FROM n",
        "SELECT name, sql FROM sqlite_master",
        "PRAGMA table_info(person)",
        "SELECT * FROM pragma_table_info('person')",
        "EXPLAIN QUERY PLAN SELECT * FROM person",
        "SELECT count(*), upper(name), row_number() OVER () FROM person GROUP BY name",
        "SELECT 1; -- and nothing more",
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
        "CREATE TEMP TABLE other (a)",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "BEGIN",
        "PRAGMA query_only = OFF",
        "PRAGMA journal_mode = WAL",
        "PRAGMA database_list",
        "SELECT 1 FROM pragma_query_only(0)",
        "SELECT load_extension('evil')",
        "SELECT readfile('/etc/passwd')",
        "UPDATE sqlite_master SET sql = ''",
        "SELECT 1; DROP TABLE person",
        "SELEC 1",
    ],
)
def test_all_else_is_refused_and_changes_nothing(
    refused: Callable[..., str], database: Path, query: str
) -> None:
    before = database.read_bytes()
    assert refused(query)
    assert database.read_bytes() == before
    assert os.listdir(database.parent) == [database.name]


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
