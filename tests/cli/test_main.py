"""The command as a process: what it loads, how it ends, what it says when it cannot."""

import dataclasses
import io
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import localmdi
from localmdi.cli import main
from localmdi.cli.app import build_group
from localmdi.cli.commands import demo, explain, global_, infinite

HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "pandas", "matplotlib", "jinja2", "altair"}


def python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["explain", "--help"],
        ["global", "--help"],
        ["infinite", "--help"],
        ["demo", "--help"],
        ["--version"],
    ],
)
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import json, sys; from localmdi.cli import main; code = main(sys.argv[1:]); "
        "print(json.dumps([code, *sys.modules]), file=sys.stderr)"
    )
    code, *modules = json.loads(python(code, *arguments).stderr)
    assert code == 0
    assert HEAVY.isdisjoint(modules)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("demo", demo.DemoSettings),
        ("explain", explain.ExplainSettings),
        ("global", global_.GlobalSettings),
        ("infinite", infinite.InfiniteSettings),
    ],
)
def test_every_option_has_a_setting(name, settings):
    options = {param.name for param in build_group().get_command(None, name).params}
    fields = {field.name for field in dataclasses.fields(settings)}
    assert options == fields - ({"task"} if name == "infinite" else set()) | {"debug"}


def test_help_answers_at_once():
    # Not measured in seconds, which are the machine's: what takes time is not imported.
    code = "import sys; from localmdi.cli import main; main(['--help']); print(*sys.modules)"
    loaded = set(python(code).stdout.split("\n")[-2].split())
    assert "click" in loaded
    assert loaded.isdisjoint({"numpy", "sklearn", "pyarrow", "pandas", "localmdi._core"})


def test_module_is_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "localmdi", "--version"], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (0, f"localmdi {localmdi.__version__}\n")


def test_without_click():
    code = (
        "import sys; sys.modules['click'] = None; from localmdi.cli import main; sys.exit(main())"
    )
    run = python(code)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert 'pip install "localmdi[app]"' in run.stderr


def test_without_pandas(people):
    code = """
import sys
class Blocker:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocker())
from localmdi.cli import main
sys.exit(main(sys.argv[1:]))
"""
    run = python(code, "explain", str(people), "--target", "sick", "--trees", "3")
    assert run.returncode == 0, run.stderr
    assert "Row 0, target no, predicted no" in run.stdout


@pytest.mark.parametrize("library", ["pyarrow", "skops"])
def test_without_a_library(run, people, monkeypatch, library, write):
    monkeypatch.setitem(sys.modules, library, None)
    outcome = run("explain", people, "--model", write("m.skops", b"PK\x03\x04"))
    assert outcome.code == 1
    assert (
        f'needs {library}, which is not installed; install it with pip install "localmdi[app]"'
        in (outcome.complaint)
    )


def test_help_without_arguments(run):
    outcome = run()
    assert outcome.code == 0
    assert "localmdi demo" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explode"], "No such command 'explode'"),
        (["explain"], "Missing argument 'DATA'"),
        (["explain", "people.csv", "--colour", "red"], "No such option '--colour'"),
        (["explain", "no.csv", "--target", "sick"], "'no.csv' does not exist"),
        (["explain", "people.csv", "--target", "sick", "--report", "."], "is a directory"),
        (
            ["explain", "people.csv"],
            "--target must name the column to predict; the table has 'sex'",
        ),
        (["explain", "people.csv", "--target", "age", "--trees", "0"], "--trees"),
        (["explain", "people.csv", "--target", "age", "--jobs", "0"], "--jobs"),
        (["explain", "people.csv", "--target", "age", "--rows", "-3"], "rows must be numbers"),
        (
            ["explain", "people.csv", "--target", "age", "--max-features", "1.5"],
            "fraction in (0, 1]",
        ),
        (["explain", "people.csv", "--target", "age", "--separator", ";;"], "one ASCII character"),
        (
            ["explain", "people.csv", "--target", "age", "--encoding", "klingon"],
            "no encoding 'klingon'",
        ),
        (["explain", "people.csv", "--target", "age", "--encoding", "zip"], "no encoding 'zip'"),
        (["explain", "people.csv", "--target", "age", "--trees", "1" * 30], "--trees"),
        (
            ["explain", "people.csv", "--target", "height"],
            "--target: no column 'height'; 'people.csv' has 'sex', 'age', 'city', 'sick'",
        ),
        (
            ["explain", "people.csv", "--target", "sick", "--exclude", "height"],
            "--exclude: no column 'height'",
        ),
        (
            ["explain", "people.csv", "--target", "sick", "--exclude", "sick"],
            "--target must not be",
        ),
        (["infinite", "people.csv", "--target", "sick", "--bins", "few"], "got 'few'"),
        (
            ["infinite", "people.csv", "--target", "sick", "--bins", "2", "--bins", "age=2"],
            "NAME=N",
        ),
        (["global"], "either DATA with --target, or --model; got neither"),
        (["global", "people.csv", "--model", "people.csv"], "got both"),
    ],
)
def test_wrong_use(run, people, arguments, said):
    outcome = run(*arguments)
    assert outcome.code == 2
    assert said in outcome.complaint
    assert outcome.complaint.endswith("--help.")


def test_only_debug_shows_where(run, people):
    arguments = ["explain", people, "--target", "sick", "--max-features", "7"]
    outcome = run(*arguments)
    assert outcome.code == 1
    assert "a whole number from 1 to 3" in outcome.complaint
    with pytest.raises(ValueError, match="a whole number from 1 to 3"):
        run(*arguments, "--debug")


def test_errors_of_our_own_making_ask_for_a_report(run, people, monkeypatch):
    def stumble(*arguments, **options):
        raise ZeroDivisionError("a\nbug")

    monkeypatch.setattr(explain, "fit_forest", stumble)
    outcome = run("explain", people, "--target", "sick")
    assert outcome.code == 1
    assert outcome.complaint.startswith("unexpected ZeroDivisionError: a bug. Run it again with")


def test_the_page_names_options_that_exist():
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    group = build_group()
    names = group.list_commands(None)
    commands = [group, *(group.get_command(None, name) for name in names)]
    params = [param for command in commands for param in command.params]
    options = {name for param in params for name in (*param.opts, *param.secondary_opts)}
    options = {name for name in options if name.startswith("--")} | {"--help"}
    named = set(re.findall(r"--[a-z][a-z-]*", page))
    assert named <= options
    assert options - named == {"--version", "--predict"}


def test_the_page_names_every_key(run, people, pages):
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    on_people = [people, "--target", "sick"]
    for arguments in (
        ["explain", *on_people, "--trees", "3"],
        ["global", *on_people, "--trees", "3"],
        ["infinite", *on_people, "--bins", "2", "--missing", "category"],
        ["demo", "--trees", "3"],
    ):
        document = json.loads(run(*arguments, "--json").out)
        assert [key for key in document if f"`{key}`" not in page] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run, shell):
    outcome = run("completion", shell)
    assert outcome.code == 0
    assert "_LOCALMDI_COMPLETE" in outcome.out


def test_completion_completes():
    code = "import sys; from localmdi.cli import main; main()"
    environment = os.environ | {
        "_LOCALMDI_COMPLETE": "bash_complete",
        "COMP_WORDS": "localmdi explain --tar",
        "COMP_CWORD": "2",
    }
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert run.stdout.split() == ["plain,--target"]


def test_names_that_a_terminal_cannot_show(write, monkeypatch):
    path = write("wörter.csv", "größe,ok\n1,a\n2,b\n")
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["explain", str(path), "--target", "ok", "--trees", "3"]) == 0
    screen.flush()
    assert rb"gr\xf6\xdfe" in screen.buffer.getvalue()


def test_messages_cannot_move_the_cursor(run, write):
    path = write("a.csv", "\x1b[2J,y\n1,2\n")
    assert "the table has '�[2J'" in run("explain", path).complaint


def test_warnings_become_notes(run, people, monkeypatch):
    original = explain.fit_forest

    def fit(*arguments, **options):
        warnings.warn("something\nto know", UserWarning, stacklevel=1)
        warnings.warn("something for developers", DeprecationWarning, stacklevel=1)
        return original(*arguments, **options)

    monkeypatch.setattr(explain, "fit_forest", fit)
    outcome = run("explain", people, "--target", "sick", "--trees", "3", "--plain")
    assert (outcome.code, outcome.err) == (0, "note: something to know\n")


def test_progress(run, people, monkeypatch):
    from localmdi.cli.console import Console

    monkeypatch.setattr(Console, "progress", True)
    outcome = run("explain", people, "--target", "sick", "--trees", "3")
    assert "3/3" in outcome.err
    assert "8row" in outcome.err


def test_a_reader_that_leaves(people):
    options = "--target sick --trees 3 --plain --show-rows 8"
    command = f"{sys.executable} -m localmdi explain {people} {options}"
    run = subprocess.run(["sh", "-c", f"{command} | head -1"], capture_output=True, text=True)
    assert "people.csv" in run.stdout
    assert run.stderr == ""
