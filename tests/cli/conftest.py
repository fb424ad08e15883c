"""Commands run in this process, and small tables to run them on."""

from dataclasses import dataclass

import pytest

from localmdi.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def complaint(self):
        """The one line of an error."""
        lines = self.err.splitlines()
        errors = [line for line in lines if line.startswith("localmdi: ")]
        notes = [line for line in lines if line.startswith("note: ")]
        assert len(errors) == 1, self.err
        assert len(errors) + len(notes) == len(lines), self.err
        return errors[0].removeprefix("localmdi: ")


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_command


PEOPLE = [
    ("sex", "age", "city", "sick"),
    ("f", "31", "Bern", "no"),
    ("m", "47.5", "Wien", "yes"),
    ("f", "", "Rom", "no"),
    ("m", "62", "", "yes"),
    ("f", "58", "Bern", "yes"),
    ("m", "23", "Wien", "no"),
    ("f", "71", "Rom", "yes"),
    ("m", "35", "Bern", "no"),
]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("".join(",".join(row) + "\n" for row in PEOPLE))
    return path


@pytest.fixture
def write(tmp_path):
    """Write a file, text or bytes, and return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def pages(monkeypatch):
    """Reports that would have been written; a page with its charts takes seconds."""
    import localmdi.report

    written = []

    def write_page(request, path):
        written.append({"path": path, **vars(request)})

    monkeypatch.setattr(localmdi.report.write, "write_page", write_page)
    return written
