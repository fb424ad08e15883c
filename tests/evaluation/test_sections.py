"""Every section at tiny sizes: made, resumed, written as one page that needs nothing else."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from evaluation import __main__ as program
from evaluation.deletion import COUNTS, curves
from evaluation.document import DOCS, document, write_documents
from evaluation.finite import CELLS, KS, Draw, law, line, targets
from evaluation.measures import LOCAL, MEASURES, SLOW, Question
from evaluation.null import NullScores
from evaluation.page import render, results
from evaluation.problems import draw
from evaluation.remainder import Remainders
from evaluation.rows import collect
from evaluation.sections import SECTIONS
from evaluation.settings import Settings
from evaluation.tuning import MIN_ROWS, tune
from evaluation.work import NUMBERS, Growing, RowScores, Sizes, ask
from evaluation.wrong import WrongRows
from paper.store import Store


def tiny(folder):
    return replace(
        Settings.quick(folder),
        n_trees=40,
        n_train=600,
        n_rows=8,
        tuning_seeds=(100,),
        seeds=(0, 1),
        slow_seeds=1,
        slow_trees=8,
        n_background=4,
        sage_permutations=4,
        n_refits=3,
        n_shuffles=3,
        real_sizes=(150,),
        n_digits=6,
        sample_sizes=(40, 160),
        tree_counts=(1, 4),
        n_draws=4,
        n_processes=1,
    )


@pytest.fixture(scope="module")
def fewer():
    """Two problems of a kind, and no LMDI+, which wants more trees than a test has time for."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("tuning", "invase", "stability", "discoveries"):
            patch.setattr(f"evaluation.{module}.INVASE", ("Syn1", "Syn4"))
        for module in ("difficulties", "discoveries"):
            patch.setattr(f"evaluation.{module}.DIFFICULTIES", ("switch", "wrong labels"))
        patch.setattr("evaluation.spread.SPREAD", ("mean and spread", "spread alone"))
        # Users are warned of rows that resemble each other; small forests of the tables that are
        # left out here give cause for it.
        patch.setattr("evaluation.stability.DATA", ("Syn4", "Syn1"))
        patch.setattr("evaluation.deletion.NAMES", ("wine, second cultivar", "diabetes"))
        patch.setattr("evaluation.null.DESIGNS", {"Syn1": ("Syn1", 5), "diabetes": ("diabetes", 5)})
        patch.setattr("evaluation.remainder.CLASSES", ("Syn1",))
        patch.setattr("evaluation.wrong.NAMES", ("Syn1", "wrong labels"))
        patch.setattr("evaluation.responses.RESPONSES", ("linear",))
        patch.setattr("evaluation.real.RESPONSES", ("linear",))
        patch.setattr("evaluation.rows.has", lambda library: False)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory, fewer):
    settings = tiny(tmp_path_factory.mktemp("evaluation"))
    return settings, list(program.PROGRAM.make(settings, list(SECTIONS)))


def test_every_section_says_and_shows_something(made):
    _, pieces = made
    assert [piece.name for piece in pieces] == list(SECTIONS)
    for piece in pieces:
        assert piece.notes
        assert piece.tables
        for table in piece.tables:
            assert all(len(row) == len(table.columns) for row in table.rows), table.name
            assert "nan" not in str(table.rows[0][1:-1]) or piece.name == "disagreement"
    names = [item.name for piece in pieces for item in piece.tables]
    assert len(names) == len(set(names))


def test_a_second_run_computes_nothing(made, monkeypatch):
    settings, pieces = made

    def computed(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr("paper.store._compute_block", computed)
    again = list(program.PROGRAM.make(settings, list(SECTIONS)))
    assert results(again, settings, command="c") == results(pieces, settings, command="c")


def test_an_interrupted_run_computes_what_is_missing_only(made, tmp_path):
    settings = replace(made[0], folder=tmp_path)
    works = [
        RowScores("Syn1", seed, ("local MDI",), Sizes.of(settings), Growing()) for seed in (0, 1)
    ]
    whole = Store(tmp_path).each(works, label="rows")
    (first, second) = sorted(
        (tmp_path / "cache").glob("*/*.npz"), key=lambda path: path.parent.name
    )
    kept = first.stat().st_mtime_ns
    second.unlink()
    again = Store(tmp_path).each(works, label="rows")
    np.testing.assert_array_equal(np.array(again)[..., :2], np.array(whole)[..., :2])
    assert first.stat().st_mtime_ns == kept
    assert second.exists()


def test_the_page_needs_nothing_from_elsewhere(made):
    settings, pieces = made
    html = render(pieces, settings, command="python -m evaluation --quick")
    linked = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\')\s>]+)', html)
    assert all(target.startswith(("#", "data:")) for target in linked), linked
    assert "<link" not in html
    assert "<script" not in html
    assert html.count("<svg") == sum(len(piece.figures) for piece in pieces)
    assert "tuning seeds 100" in html
    assert str(settings.folder) not in html


def test_the_command_writes_page_tables_and_results(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "Settings", SimpleNamespace(quick=tiny, full=Settings.full))
    assert program.main(["-o", str(tmp_path), "--only", "finite"]) == 0
    assert str(tmp_path / "index.html") in capsys.readouterr().out
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "python -m evaluation --quick --only finite" in html
    assert (tmp_path / "tables" / "finite-k.csv").exists()
    assert (tmp_path / "figures" / "finite-rows.png").exists()
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert found["versions"]["localmdi"]


def test_a_part_of_the_sections_is_no_page_of_the_documentation(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        program.main(["-o", str(tmp_path), "--docs", "--only", "finite"])
    assert stop.value.code == 2
    assert "leave out --only" in capsys.readouterr().err


def test_an_interruption_is_said(tmp_path, capsys, monkeypatch):
    def interrupted(settings, store):
        raise KeyboardInterrupt

    monkeypatch.setattr("evaluation.noise.run", interrupted)
    assert program.main(["-o", str(tmp_path), "--only", "noise"]) == 130
    assert "continues where it stopped" in capsys.readouterr().err
    assert not (tmp_path / "index.html").exists()


def test_documents_are_written_from_the_results(made, tmp_path):
    settings, pieces = made
    page = write_documents(pieces, settings, command="c", folder=tmp_path)
    found = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert page.read_text(encoding="utf-8") == document(found)
    pictures = re.findall(r"\]\((images/.*?)\)", page.read_text(encoding="utf-8"))
    assert len(pictures) == sum(len(piece.figures) for piece in pieces)
    assert all((tmp_path / picture).exists() for picture in pictures)


def test_the_documentation_is_what_its_results_give():
    found = json.loads((DOCS / "evaluation.json").read_text(encoding="utf-8"))
    assert (DOCS / "evaluation.md").read_text(encoding="utf-8") == document(found)
    assert [section["name"] for section in found["sections"]] == list(SECTIONS)
    assert not set(found["seeds"]) & set(found["tuning_seeds"])
    assert found["command"] == "python -m evaluation --full"
    assert found["seeds"] == list(Settings.full("anywhere").seeds)
    for section in found["sections"]:
        for picture in section["figures"]:
            assert (DOCS / "images" / f"evaluation-{picture['name']}.png").exists()


def test_seeds_are_disjoint():
    for settings in (Settings.quick("x"), Settings.full("x")):
        assert not set(settings.seeds) & set(settings.tuning_seeds)
        assert set(settings.other_seeds) <= set(settings.seeds)


def test_measures_have_the_shape_of_the_rows():
    sizes = Sizes(40, 100, 4, 5, 5)
    question = ask(draw("Syn1", 100, n_rows=4, seed=0), 0, sizes=sizes, growing=Growing(5, 2))
    for name, measure in MEASURES.items():
        values = measure(question)
        assert values.shape == (4, 11), name
        assert np.isfinite(values).all(), name


@pytest.fixture
def product():
    """A model whose answer is the product of the first two features, and rows to explain."""

    class Product:
        def predict_proba(self, X):
            chance = X[:, 0] * X[:, 1]
            return np.column_stack([1 - chance, chance])

    drawn = draw("many values", 4000, n_rows=3, seed=0)
    rng = np.random.default_rng(0)
    for part in (drawn.train, drawn.rows):
        part.X[:] = rng.random(part.X.shape)
    return Question(Product(), drawn, 1, 1, 1, 0)


def mean_over_seeds(name, question):
    values = [MEASURES[name](replace(question, seed=seed)) for seed in range(60)]
    return np.mean(values, axis=0)


def test_permutation_is_the_rise_of_the_error_in_expectation(product):
    drawn, values = product.drawn, mean_over_seeds("permutation", product)
    X, y = drawn.rows.X, drawn.rows.y
    before = (X[:, 0] * X[:, 1] - y) ** 2
    after = ((drawn.train.X[:, 0] * X[:, [1]] - y[:, None]) ** 2).mean(axis=1)
    np.testing.assert_allclose(values[:, 0], after - before, atol=0.05)
    np.testing.assert_allclose(values[:, 2:], 0, atol=1e-12)


def test_ice_variance_is_that_of_the_answer_in_expectation(product):
    drawn, values = product.drawn, mean_over_seeds("ICE variance", product)
    # A variance over 20 draws is 1/20 too small on average.
    expected = drawn.train.X[:, 0].var() * drawn.rows.X[:, 1] ** 2 * 19 / 20
    np.testing.assert_allclose(values[:, 0], expected, rtol=0.1)
    np.testing.assert_allclose(values[:, 2:], 0, atol=1e-12)


def test_deletion_takes_the_top_features_away_and_insertion_all_others(product):
    X, train = product.drawn.rows.X, product.drawn.train.X
    assert [count for count in COUNTS if 2 * count <= X.shape[1]] == [1, 2, 3, 5]
    right = np.tile(np.arange(12.0)[::-1], (3, 1))
    worst = curves(product, -right)
    np.testing.assert_allclose(worst[[0, 2]], 0, atol=1e-8)

    answer, mean, variance = X[:, 0] * X[:, 1], train.mean(axis=0), train.var(axis=0)
    of_both = np.var(train[:, 0] * train[:, 1])
    # Ten draws leave a tenth of their variance.
    first_gone = (X[:, 1] * mean[0] - answer) ** 2 + X[:, 1] ** 2 * variance[0] / 10
    second_gone = (X[:, 0] * mean[1] - answer) ** 2 + X[:, 0] ** 2 * variance[1] / 10
    both_gone = (mean[0] * mean[1] - answer) ** 2 + of_both / 10
    found = np.mean([curves(replace(product, seed=seed), right) for seed in range(200)], axis=0)
    assert found[0] == pytest.approx((first_gone + 3 * both_gone).mean() / 4, rel=0.1)
    assert found[1] == pytest.approx(second_gone.mean() / 4, rel=0.1)


def test_the_account_is_a_multiple_of_saabas_in_each_row():
    sizes = Sizes(60, 300, 12, 5, 5)
    question = ask(draw("Syn4", 300, n_rows=12, seed=0), 0, sizes=sizes, growing=Growing())
    account, saabas = (MEASURES[name](question) for name in ("account", "Saabas"))
    ratio = account / saabas
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape), rtol=1e-6)


def test_the_remainder_is_the_loss_of_the_forest():
    for name in ("Syn1", "mean and spread"):
        found = Remainders(name, 0, Sizes(60, 200, 30, 5, 5), Growing()).compute()
        before, plain, left, out_of_bag = found[:4]
        assert found[-1] < 1e-12
        assert left == pytest.approx(out_of_bag, rel=0.02)
        assert plain < left
        assert before > 0


def test_entropy_and_largest_probability_agree_on_two_classes():
    found = WrongRows("Syn4", 0, Sizes(60, 300, 80, 5, 5), Growing()).compute()
    assert found[1] == pytest.approx(found[2])
    assert 0 < found[-1] < 0.6


def test_shuffled_labels_tell_nothing():
    sizes = Sizes(60, 200, 30, 5, 5)
    found = np.array([NullScores("Syn2", s, sizes, Growing()).compute() for s in range(4)])
    shares, (gain, account, plain) = found[:, :4].mean(axis=0), found[:, 4:7].mean(axis=0)
    assert (np.diff(shares) > 0).all()
    assert shares[1] < 0.2
    assert plain > 0.04
    assert abs(gain) < plain / 10
    assert account < 0


def test_each_measure_has_the_setting_that_was_best_for_it(made):
    settings, store = made[0], Store(made[0].folder)
    tuning = tune(settings, store)
    assert tuning.auroc.shape == (len(LOCAL), 3, len(MIN_ROWS))
    at = LOCAL.index("honest gain")
    best = tuning.best("honest gain")
    assert tuning.auroc[at].max() == pytest.approx(
        tuning.auroc[at, (1, 5, 20).index(best.leaf), MIN_ROWS.index(best.min_rows)]
    )
    numbers = collect(("Syn1", "Syn4"), settings, store=store, seeds=(0, 1))
    assert set(numbers) == {*LOCAL, "TreeSHAP, interventional"}
    assert numbers["TreeSHAP"].shape == (2, 2, len(NUMBERS))


def test_slow_measures_have_the_first_seeds_only(made, monkeypatch):
    settings, store = made[0], Store(made[0].folder)
    monkeypatch.setattr("evaluation.rows.has", lambda library: True)
    numbers = collect(("Syn1",), settings, store=store, seeds=(0, 1), measures=("local MDI",))
    for name in SLOW:
        assert numbers[name].shape == (1, 1, len(NUMBERS))
    assert numbers["local MDI"].shape == (2, 1, len(NUMBERS))
    assert 0 <= numbers["LMDI+"][0, 0, 0] <= 1


def test_targets_are_the_mean_of_the_local_ones():
    whole = targets()
    assert whole.shape == (len(KS), 1 + len(CELLS), 5)
    np.testing.assert_allclose(whole[:, 1:].mean(axis=1), whole[:, 0], atol=1e-12)
    np.testing.assert_allclose(whole[:, 0, 3:], 0, atol=1e-12)
    assert law().table.sum() == pytest.approx(1)


def test_bias_follows_the_line_of_theory():
    errors = [Draw(2000, seed, (1,)).compute()[0, -1, 0] - targets()[0, 0] for seed in range(25)]
    noise = np.mean(errors, axis=0)[3:]
    np.testing.assert_allclose(noise, line(np.array(2000)), rtol=0.35)
