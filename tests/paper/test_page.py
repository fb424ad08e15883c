"""The page is one file, escapes what it shows, and the command writes all it promises."""

import csv
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib import import_module

import pytest
from matplotlib.figure import Figure

from paper.__main__ import main
from paper.document import DOCS, PICTURES, write_documents
from paper.output import csv_text, markdown_text, svg_text
from paper.page import notation, render
from paper.piece import EXACT, NOT_REPRODUCED, Claim, Picture, Piece, Table
from paper.pieces import PIECES
from paper.settings import Settings

EVIL = "<script>alert('x')</script>"


@pytest.fixture
def piece():
    figure = Figure(figsize=(2, 1))
    figure.add_subplot().plot([1, 2], [3, 4])
    return Piece(
        name="evil",
        title=EVIL,
        figures=(Picture("picture", f'A "caption" {EVIL}', figure),),
        tables=(Table("table", EVIL, (EVIL,), ((EVIL,), ("exact",))),),
        claims=(
            Claim(EVIL, EVIL, EVIL, EVIL, EXACT),
            Claim("Section 6", "X_1 and X_4", "no", "yes", NOT_REPRODUCED),
        ),
        notes=(EVIL,),
    )


def test_everything_is_escaped(piece, tmp_path):
    html = render([piece], Settings.quick(tmp_path), command=EVIL)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert 'aria-label="A &#34;caption&#34;' in html


def test_the_page_needs_nothing_from_elsewhere(piece, tmp_path):
    html = render([piece], Settings.full(tmp_path), command="python -m paper --full")
    linked = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\')\s>]+)', html)
    assert all(target.startswith(("#", "data:")) for target in linked), linked
    assert "<link" not in html


def test_counts_and_what_is_missed_come_first(piece, tmp_path):
    html = render([piece], Settings.full(tmp_path), command="python -m paper --full")
    counts = re.findall(r"<li><b>(\d+)</b>", html)
    assert counts == ["1", "0", "0", "1"]
    assert html.index("X<sub>1</sub> and X<sub>4</sub>") < html.index("<main>")
    for theirs in ("0.1.0", "0.38.2", "February 2021"):
        assert theirs in html


def test_only_quick_mode_says_it_is_quick(piece, tmp_path):
    html = render([piece], Settings.quick(tmp_path), command="c")
    captions = re.findall(r"<(figcaption|caption)>(.*?)</\1>", html)
    assert len(captions) == 2
    assert all("Quick mode" in caption for _, caption in captions)
    assert "Quick mode" not in render([piece], Settings.full(tmp_path), command="c")


def test_what_is_not_reproduced_is_named_for_what_it_is(piece, tmp_path):
    claim = Claim("E", "a share", "87", "100", NOT_REPRODUCED, because="a misprint (M1)")
    html = render([replace(piece, claims=(claim,))], Settings.full(tmp_path), command="c")
    assert "<strong>a misprint (M1)</strong>" in html
    assert "not reproduced: a misprint (M1)</span>" in html


def test_a_raster_is_one_small_picture_with_its_caption(piece, tmp_path):
    (picture,) = piece.figures
    html = render(
        [replace(piece, figures=(replace(picture, raster=True),))],
        Settings.full(tmp_path),
        command="c",
    )
    assert html.count("<img") == 1
    assert 'alt="A &#34;caption&#34;' in html
    assert "<svg" not in html


def test_letters_are_outlined_once(piece, tmp_path):
    (picture,) = piece.figures
    twice = replace(piece, figures=(picture, replace(picture, name="again")))
    html = render([twice], Settings.full(tmp_path), command="c")
    glyphs = re.findall(r'<path id="(A\w+)" d=', html)
    assert glyphs
    assert len(glyphs) == len(set(glyphs))


def test_the_published_page_is_small():
    assert (DOCS / "paper" / "reproduction.html").stat().st_size < 600_000


def test_the_published_page_is_of_a_full_run():
    html = (DOCS / "paper" / "reproduction.html").read_text(encoding="utf-8")
    assert "<pre>python -m paper --full</pre>" in html
    assert "Quick mode" not in html


def test_the_documentation_has_the_page_and_every_picture_it_shows(piece, tmp_path):
    (picture,) = piece.figures
    shown = replace(piece, figures=tuple(replace(picture, name=name) for name in PICTURES))
    page = write_documents([piece, shown], "<p>all</p>", folder=tmp_path)
    assert page.read_text(encoding="utf-8") == "<p>all</p>"
    pictures = {f"images/{name}" for name in PICTURES.values()}
    assert {f"images/{path.name}" for path in (tmp_path / "images").iterdir()} == pictures
    text = (DOCS / "paper.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\((images/.*?)\)", text)) == pictures


def test_the_same_drawing_gives_the_same_page(piece, tmp_path):
    settings = Settings.quick(tmp_path)
    assert render([piece], settings, command="c") == render([piece], settings, command="c")
    ET.fromstring(svg_text(piece.figures[0]))


def test_long_tables_stay_in_their_files(tmp_path):
    rows = tuple((f"cell {i}",) for i in range(500))
    piece = Piece("p", "P", tables=(Table("long", "A long table.", ("a",), rows),))
    html = render([piece], Settings.quick(tmp_path), command="c")
    assert "cell 499" not in html
    assert "tables/long.csv" in html


def test_notation_escapes_before_it_sets_indices():
    assert notation("X_12 <b> V^{-m}") == "X<sub>12</sub> &lt;b&gt; V<sup>-m</sup>"


def test_tables_as_files():
    table = Table("t", "Caption.", ("a|b", "c"), (("x|y", 1), ('"q", r', 2)))
    assert list(csv.reader(csv_text(table).splitlines())) == [
        ["a|b", "c"],
        ["x|y", "1"],
        ['"q", r', "2"],
    ]
    assert markdown_text(table).splitlines()[2:5] == [
        "| a\\|b | c |",
        "|---|---|",
        "| x\\|y | 1 |",
    ]


def test_every_piece_can_be_found():
    assert all(callable(import_module(module).run) for module in PIECES.values())


def test_the_command_writes_page_and_tables(tmp_path, capsys):
    assert main(["-o", str(tmp_path), "--only", "datasets", "examples"]) == 0
    assert str(tmp_path / "index.html") in capsys.readouterr().out
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "python -m paper --quick --only datasets examples" in html
    assert str(tmp_path) not in html
    for name in ("datasets", "examples", "claims"):
        assert (tmp_path / "tables" / f"{name}.csv").exists()
        assert (tmp_path / "tables" / f"{name}.md").exists()
    with (tmp_path / "tables" / "claims.csv").open(encoding="utf-8") as file:
        verdicts = {row["verdict"] for row in csv.DictReader(file)}
    assert verdicts == {"exact"}


def test_an_interruption_is_said_and_leaves_no_page(tmp_path, capsys, monkeypatch):
    def interrupted(settings, store):
        raise KeyboardInterrupt

    monkeypatch.setattr("paper.examples.run", interrupted)
    assert main(["-o", str(tmp_path), "--only", "examples"]) == 130
    assert "continues where it stopped" in capsys.readouterr().err
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize(
    "wrong",
    [["--only", "nothing"], ["--quick", "--full"], ["--docs", "--only", "datasets"]],
)
def test_wrong_options_are_refused(wrong, capsys):
    with pytest.raises(SystemExit) as stop:
        main(wrong)
    assert stop.value.code == 2
    assert "error" in capsys.readouterr().err
