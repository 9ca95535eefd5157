"""Findings that manifests, modules and procedures ask to omit."""

from __future__ import annotations

from typing import Any

from tests.conftest import Run, Write, manifest_of
from tests.tables import check_each

UNDESCRIBED = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
WARNED = "def echo(text: int, *more: str) -> str:\n    return str(text)\n"


def codes(done: Any) -> list[str]:
    return [line.split(": ")[1][:5] for line in done.out.splitlines() if ": ST" in line]


def validate(run: Run, *arguments: str) -> list[str]:
    return codes(run("validate", "--format", "concise", *arguments))


def test_a_manifest_leaves_out_what_it_names(run: Run, write: Write) -> None:
    write("echo", manifest_of("echo", parameters=UNDESCRIBED))
    assert validate(run) == ["ST306"]
    write("echo", manifest_of("echo", parameters=UNDESCRIBED, **{"x-ignore": ["ST306"]}))
    write("other", manifest_of("other", parameters=UNDESCRIBED))
    assert validate(run) == ["ST306"], "of the other tool"


@check_each(
    ("code", "found"),
    [
        (WARNED, ["ST406", "ST408"]),
        (WARNED.replace(":\n", ":  # sovl: ignore[ST408]\n", 1), ["ST406"]),
        (WARNED.replace(":\n", ":  # sovl: ignore[ST406, st408]\n", 1), []),
        (f"# sovl: ignore[ST4]\n{WARNED}", []),
        (f"{WARNED}# sovl: ignore[ST408]\n", ["ST406"]),
        (f'"""# sovl: ignore[ST4]"""\n{WARNED}', ["ST406", "ST408"]),
        (f"{WARNED[:-1]}  # sovl: ignore[ST408]\n", ["ST002", "ST406", "ST408"]),
    ],
)
def test_a_comment_leaves_out_what_its_line_or_file_has(
    run: Run, write: Write, code: str, found: list[str]
) -> None:
    write("echo", code=code)
    assert sorted(validate(run)) == found


@check_each(
    ("rules", "words"),
    [
        (["ST306"], "nothing of ST306 is omitted by this"),
        (["ST3066"], "there's no code 'ST3066'; did you mean 'ST306'?"),
        ("ST306", "x-ignore must be a list of rules, such as ['ST306']"),
    ],
)
def test_a_manifest_that_leaves_nothing_out_is_told(
    run: Run, write: Write, rules: Any, words: str
) -> None:
    write("echo", manifest_of("echo", **{"x-ignore": rules}))
    done = run("validate", "--format", "concise")
    (line,) = [each for each in done.out.splitlines() if "ST002" in each]
    assert line.endswith(f"ST002 {words}")
    assert line.startswith("tools/echo/echo.json:"), line
    assert done.code == 0


@check_each(
    ("comment", "words"),
    [
        ("# sovl: ignore[ST408]", "nothing of ST408 is omitted by this"),
        ("# sovl: ignore", "the comment names no rule: write # sovl: ignore[ST408]"),
        ("# sovl: ignore[nothing-such]", "there's no rule 'nothing-such'"),
    ],
)
def test_a_comment_that_leaves_nothing_out_is_told(
    run: Run, write: Write, comment: str, words: str
) -> None:
    write("echo", code=f"def echo(text: str) -> str:\n    return text  {comment}\n")
    (line,) = run("validate", "--format", "concise").out.splitlines()[:-1]
    assert line.startswith(f"tools/echo/echo.py:2:18: ST002 {words}")


def test_an_error_is_never_left_out(run: Run, write: Write) -> None:
    write("echo", manifest_of("echo", **{"x-ignore": ["ST401"]}), code="")
    assert validate(run) == ["ST401"]


def test_what_nobody_looked_for_is_not_told_as_unused(run: Run, write: Write) -> None:
    write("echo", manifest_of("echo", **{"x-ignore": ["ST9"]}))
    assert validate(run) == []
    assert validate(run, "--target", "openai-strict") == ["ST002"]


def test_a_selection_does_not_make_a_suppression_unused(run: Run, write: Write) -> None:
    write("echo", manifest_of("echo", parameters=UNDESCRIBED, **{"x-ignore": ["ST306"]}))
    assert validate(run, "--select", "ST3,ST002") == []


def test_a_procedure_leaves_out_what_it_names(run: Run, write: Write) -> None:
    write("echo")
    folder = write("echo").parents[1] / "procedures"
    folder.mkdir()
    steps = "  - {action: return, value: 1}\n  - {action: set, values: {a: 1}}"
    file = folder / "end.yaml"
    file.write_text(f"name: end\ndescription: End.\nsteps:\n{steps}\n")
    assert validate(run) == ["ST758"]
    file.write_text(
        f"name: end\ndescription: End.\nsteps:\n{steps}  # sovl: ignore[unreachable-step]\n"
    )
    assert validate(run) == []
