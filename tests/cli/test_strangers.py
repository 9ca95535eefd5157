"""``validate --no-import`` of a stranger's pull request: what it must not run, write or show."""

from __future__ import annotations

import json
import marshal
import re
import struct
from collections.abc import Callable
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path

import pytest

from tests.conftest import Run, Write, code_of, manifest_of
from tests.tables import check_each

SECRET = "gho_16C7e42F292c6912E7710c838347Ae178B4a"

OUTSIDE = [
    "concise=../site/evil.pth",
    "json=/{outside}/report.json",
    "sarif=linked/report.sarif",
    "concise=conftest.py",
    "concise=pth.txt",
    "github=/dev/stdout",
]


@check_each("text", OUTSIDE)
def test_a_configuration_names_no_file_outside_of_the_project_or_that_runs(
    text: str, run: Run, tmp_path: Path, write: Write
) -> None:
    site = tmp_path.parent / f"{tmp_path.name}-site"
    site.mkdir(exist_ok=True)
    for name, target in {"linked": site, "linked.xml": site / "a.xml"}.items():
        _linked(tmp_path / name, target)
    evil = tmp_path / ".venv" / "lib" / "site-packages" / "evil.pth"
    evil.parent.mkdir(parents=True, exist_ok=True)
    _linked(tmp_path / "pth.txt", evil)
    write("echo")
    named = text.replace("../site", f"../{site.name}").format(outside=site)
    (tmp_path / "sovl-tools.toml").write_text(f"format = [{named!r}]\n")
    before = {*tmp_path.rglob("*")}
    done = run("validate", "--no-import")
    assert done.code == 2
    assert "sovl-tools.toml: format: " in done.err
    assert "--format writes other files" in done.err
    assert {*tmp_path.rglob("*")} == before
    assert [*site.iterdir()] == []


def test_a_configuration_names_reports_in_its_project_and_the_user_any_file(
    run: Run, tmp_path: Path, write: Write
) -> None:
    write("echo")
    project = tmp_path / "project"
    (project / "reports").mkdir(parents=True)
    (tmp_path / "tools").rename(project / "tools")
    names = ["a.json", "reports/b.xml", "./reports/../c.sarif", "reports/d.txt"]
    kinds = ["json", "junit", "sarif", "text"]
    formats = [f"{kind}={name}" for kind, name in zip(kinds, names, strict=True)]
    (project / "sovl-tools.toml").write_text(f"format = {json.dumps(formats)}\n")
    # the paths are relative to the file that names them, wherever the command runs
    assert run("--directory", "project/reports", "validate").code == 0
    assert all((project / name).is_file() for name in names)
    done = run("--directory", "project", "validate", "--format", "concise=../evil.pth")
    assert (done.code, (tmp_path / "evil.pth").is_file()) == (0, True)


RUN = "__import__('pathlib').Path('{ran}').touch()"
HEADS = {
    "an annotation": "def echo(text: {run}): ...",
    "annotated": "from typing import Annotated\ndef echo(text: Annotated[str, {run}]): ...",
    "a literal": "from typing import Literal\ndef echo(text: Literal[{run}]): ...",
    "a default": "def echo(text: str = {run}): ...",
    "a result": "def echo(text: str) -> {run}: ...",
    "a class": "class A:\n    a: {run}\n    b = {run}\ndef echo(text: A): ...",
    "a decorator": "@{run}\ndef echo(text: str): ...",
    "handlers": "STEP_HANDLERS = {{'a': {run}}}\ndef echo(text: str): ...",
    "a later import": "from __future__ import annotations\ndef echo(text: {run}): ...",
    "a library's module": (
        "import typing\nfrom uuid import os\n"
        "def echo(text: typing.sys.modules['os'].system('touch {ran}'), b: os.system): ..."
    ),
}
COMMANDS = (
    "validate --no-import",
    "validate --no-import --fix --unsafe-fixes",
    "lock",
    "diff {old}",
)


@check_each("head", HEADS)
def test_no_code_of_a_module_is_run_or_evaluated(
    head: str, run: Run, tmp_path: Path, write: Write
) -> None:
    ran = tmp_path / "ran"
    ran.unlink(missing_ok=True)
    program = RUN.format(ran=ran)
    source = HEADS[head].format(run=program, text=repr(program), ran=ran)
    for kind in ("string", "integer"):
        schema = {"type": "object", "properties": {"text": {"type": kind}}, "required": ["text"]}
        write("echo", manifest_of("echo", parameters=schema), f"{source}\n")
        for command in COMMANDS:
            done = run(*command.format(old=tmp_path / "tools").split())
            assert done.code in {0, 1, 2}
            assert "internal error" not in done.out + done.err
            assert not ran.exists(), command


# of (place, flags): what PEP 552 calls unchecked, checked, and keyed on the time
COMPILED = [("echo", 0b01), ("helper", 0b11), ("_shared", 0)]


@check_each("name, flags", COMPILED)
def test_no_committed_bytecode_is_checked_or_run_in_the_place_of_its_source(
    name: str, flags: int, run: Run, tmp_path: Path, write: Write
) -> None:
    # the source disagrees with the manifest; what is compiled hides that, and leaves a trace
    helper = "def wrong(other):\n    return other\n"
    imports = {"echo": helper, "helper": "from .helper import wrong", "_shared": ""}
    imports["_shared"] = "from .._shared import wrong"
    folder = write("echo", code=f"{imports[name]}\n\n\necho = wrong\n", helper=helper)
    (tmp_path / "tools" / "_shared.py").write_text(helper)
    path = tmp_path / "tools" / "_shared.py" if name == "_shared" else folder / f"{name}.py"
    source = path.read_bytes()
    trace = f"open({str(tmp_path / 'ran')!r}, 'w')\ndef wrong(text):\n    return text\necho = wrong"
    code = marshal.dumps(compile(trace, str(path), "exec"))
    status = path.stat()
    key = struct.pack("<II", int(status.st_mtime), status.st_size & 0xFFFFFFFF)
    header = MAGIC_NUMBER + flags.to_bytes(4, "little") + (source_hash(source) if flags else key)
    cached = Path(cache_from_source(str(path)))
    cached.parent.mkdir(exist_ok=True)
    cached.write_bytes(header + code)
    assert run("lock").code == 0
    for options in ([], ["--no-import"], ["--locked"], ["--locked", "--no-import"]):
        found = run("validate", *options).out
        assert ("ST402" in found) or name != "echo", found
        assert "--no-import" in options or "ST402" in found, found
    assert not (tmp_path / "ran").exists()
    cached.unlink()


@check_each(
    ("links", "name"),
    [
        ({"report.txt": "{site}/evil.pth"}, "report.txt"),
        ({"out": "{site}"}, "./out/evil.pth"),
        ({"report.txt": ".venv/evil.pth"}, "report.txt"),
        ({"out": "."}, "out/out/report.txt"),
    ],
)
def test_no_link_of_a_checkout_leads_an_output_elsewhere(
    links: dict[str, str], name: str, run: Run, tmp_path: Path, write: Write
) -> None:
    site = tmp_path.parent / f"{tmp_path.name}-site"
    for each in (site, tmp_path / ".venv", tmp_path / ".git"):
        each.mkdir(exist_ok=True)
    for link, target in links.items():
        _linked(tmp_path / link, Path(target.format(site=site, other=site.name)))
    write("echo", code="")
    before = {*tmp_path.rglob("*"), *site.rglob("*")}
    done = run("validate", "--no-import", "--format", f"concise={name}")
    assert (done.code, "is behind a link; name the file that it leads to" in done.err) == (2, True)
    assert {*tmp_path.rglob("*"), *site.rglob("*")} == before
    for link in links:
        (tmp_path / link).unlink()


PAYLOADS = [
    "##[add-mask]x",
    "##teamcity[message text='a']",
    "::stop-commands::x",
    "\n::error::x",
]
FORMATS = ["text", "concise", "json", "jsonl", "github", "gitlab", "sarif", "junit"]


def _of_property(payload: str, folder: Path) -> None:
    schema = {"type": "object", "properties": {payload: {"type": "text"}}, "required": ["a"]}
    manifest = manifest_of("echo", parameters=schema)
    (folder / "tools" / "echo" / "echo.json").write_text(json.dumps(manifest))


def _of_tool_folder(payload: str, folder: Path) -> None:
    name = payload.replace("/", "")
    (folder / "tools" / name).mkdir()
    (folder / "tools" / name / f"{name}.py").write_text("1 +")


def _of_tools_directory(payload: str, folder: Path) -> None:
    (folder / "tools").rename(folder / payload)
    (folder / payload / "echo" / "echo.py").write_text("")
    (folder / "sovl-tools.toml").write_text(f"paths = [{json.dumps(payload)}]\n")


def _of_setting(payload: str, folder: Path) -> None:
    (folder / "sovl-tools.toml").write_text(f"{json.dumps(payload)} = {json.dumps(payload)}\n")


def _of_bad_module(payload: str, folder: Path) -> None:
    (folder / "tools" / "echo" / "echo.py").write_text(f"def echo(text):\n{payload}\n")


def _of_procedure_file(payload: str, folder: Path) -> None:
    (folder / "procedures").mkdir()
    (folder / "procedures" / f"{payload}.yaml").write_text(f"description: |\n  a\n  {payload}\n")


PLACES: list[Callable[[str, Path], None]] = [
    _of_property,
    _of_tool_folder,
    _of_tools_directory,
    _of_setting,
    _of_bad_module,
    _of_procedure_file,
]
COMMAND = re.compile(r"##\w*\[|\A\s*::(?!(?:error|warning|notice) (?:file|title)=)")


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__[1:])
def test_no_name_and_no_text_is_a_command_to_a_ci_service(
    place: Callable[[str, Path], None], run: Run, tmp_path: Path, write: Write
) -> None:
    summary = tmp_path / "summary.md"
    for number, payload in enumerate(PAYLOADS):
        project = tmp_path / str(number)
        project.mkdir()
        write("echo")
        (tmp_path / "tools").rename(project / "tools")
        place(payload, project)
        formats = [word for each in FORMATS[1:] for word in ("--format", f"{each}={each}")]
        for options in ([], ["--format", "concise"], ["--diff", "--unsafe-fixes"], formats):
            start = ("--directory", str(number), "-v", "validate", "--no-import")
            environment = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
            done = run(*start, *options, **environment)
            written = [(project / each) for each in FORMATS if (project / each).exists()]
            texts = [done.out, done.err, *(each.read_text() for each in written)]
            texts += [summary.read_text()] if summary.exists() else []
            lines = [line for text in texts for line in re.split(r"[\r\n]", text)]
            assert [line for line in lines if COMMAND.search(line)] == []


def _link_of_manifest(project: Path, secrets: Path) -> None:
    (secrets / "netrc").write_text(f'{{"password": "{SECRET}"}}')
    _linked(project / "tools" / "echo" / "echo.json", secrets / "netrc")


def _link_of_module(project: Path, secrets: Path) -> None:
    (secrets / "netrc").write_text(f"machine example.org login me password {SECRET}\n")
    _linked(project / "tools" / "echo" / "echo.py", secrets / "netrc")


def _link_in_the_project(project: Path, _: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "config").write_text(f"[http] extraheader = {SECRET}\n")
    _linked(project / "tools" / "echo" / "echo.json", project / ".git" / "config")


def _link_of_folder(project: Path, secrets: Path) -> None:
    (secrets / "echo").mkdir()
    (secrets / "echo" / "echo.json").write_text(f"{{{SECRET}")
    (secrets / "echo" / "echo.py").write_text(code_of("echo"))
    (project / "tools" / "echo").rename(project / "tools" / "other")
    (project / "tools" / "echo").symlink_to(secrets / "echo")


def _path_of_directory(project: Path, secrets: Path) -> None:
    _link_of_folder(project, secrets)
    (project / "sovl-tools.toml").write_text(f"paths = ['../{secrets.name}']\n")


def _link_of_procedure(project: Path, secrets: Path) -> None:
    (secrets / "hosts.yml").write_text(f"oauth_token: {SECRET}\n")
    (project / "procedures").mkdir()
    (project / "procedures" / "p.yaml").symlink_to(secrets / "hosts.yml")


def _link_of_lock(project: Path, secrets: Path) -> None:
    (secrets / "lock").write_text(f'{{"version": 1, "tools": {{"{SECRET}": {{}}}}}}')
    (project / "sovl-tools.lock").symlink_to(secrets / "lock")
    (project / "sovl-tools.toml").write_text("locked = true\n")


def _linked(path: Path, target: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


LINKS = [
    _link_of_manifest,
    _link_of_module,
    _link_in_the_project,
    _link_of_folder,
    _path_of_directory,
    _link_of_procedure,
    _link_of_lock,
]


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.__name__[1:])
def test_no_line_is_quoted_of_a_file_outside_of_the_tools(
    link: Callable[[Path, Path], None], run: Run, tmp_path: Path, write: Write
) -> None:
    write("echo")
    project, secrets = tmp_path / "project", tmp_path / "secrets"
    for each in (project, secrets):
        each.mkdir()
    (tmp_path / "tools").rename(project / "tools")
    link(project, secrets)
    at = ("--directory", "project", "validate")
    for options in (["--no-import"], ["--no-import", "--diff", "--unsafe-fixes"]):
        done = run(*at, *options)
        assert SECRET not in done.out + done.err
    for kind in FORMATS:
        done = run(*at, "--no-import", "--format", kind)
        assert SECRET not in done.out + done.err
    # with imports, its code could read all files, but no line is quoted
    assert re.search(rf"^\d+ \|.*{SECRET}", run(*at).out, re.MULTILINE) is None


def test_a_link_within_the_tools_is_quoted_and_fixed(
    run: Run, tmp_path: Path, write: Write
) -> None:
    folder = write("echo", json.dumps(manifest_of("echo")).replace("description", "descripton", 1))
    (folder / "echo.json").rename(tmp_path / "tools" / "linked.json")
    (folder / "echo.json").symlink_to(tmp_path / "tools" / "linked.json")
    assert '"descripton"' in run("validate", "--no-import").out
    assert '"description"' in run("validate", "--no-import", "--diff").out
    elsewhere = run("--directory", "/", "validate", "--no-import", str(tmp_path / "tools"))
    assert '"descripton"' in elsewhere.out
