"""The section on finite samples and forests, and on whether K > 1 is more efficient (Sec. 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evaluation.comparison import Mean
from evaluation.finite import KS, N_RELEVANT, draws, line, ratio
from paper.drawing import TEXT, new_figure, style
from paper.piece import Picture, Piece, Table

if TYPE_CHECKING:
    from evaluation.finite import Draws
    from evaluation.settings import Settings
    from paper.store import Store

__all__ = ["run"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#595959")
_INFINITE = -1


def run(settings: Settings, store: Store) -> Piece:
    """Draw samples, grow forests, and compare with the exact values."""
    found = draws(settings, store)
    last = found.sizes[-1]
    bias = Mean.of(found.errors[-1, :, 0, _INFINITE, 0, N_RELEVANT:].mean(axis=1))
    return Piece(
        name="finite",
        title="Finite samples and forests",
        notes=(
            "Five coins, three of which matter: the importances of infinitely many trees on "
            "infinitely many rows are known exactly, so that bias, variance and mean squared error "
            "of every N, T and K can be measured.",
            "Too few rows bias plain MDI upwards, noise included; more trees do not help. For "
            f"noise and N = {last} the bias is {bias.value:.5f} ± {bias.error:.5f} bits; theory "
            f"expects (2^p - 1) / (2 p N ln 2) = {float(line(last)):.5f}.",
            "Too few trees add variance that falls as 1/T and is the smaller part from "
            f"{_enough(found)} trees on, at every N.",
            *_answers(found),
        ),
        figures=(_by_rows(found), _by_trees(found), _by_k(found)),
        tables=(_table(found), _k_table(found)),
    )


def _tree_variance(found: Draws, n: int, *, t: int) -> Mean:
    """Return the mean squared distance of a forest's global values from infinitely many trees'."""
    values = found.values[n, :, 0, :, 0]
    return Mean.of(((values[:, t] - values[:, _INFINITE]) ** 2).sum(axis=1))


def _sample_error(found: Draws, n: int) -> float:
    return float((found.errors[n, :, 0, _INFINITE, 0] ** 2).sum(axis=1).mean())


def _enough(found: Draws) -> str:
    """Return the fewest trees whose variance is below the error of the sample for every N."""
    for t, n_trees in enumerate(found.tree_counts):
        if all(
            _tree_variance(found, n, t=t).value < _sample_error(found, n)
            for n in range(len(found.sizes))
        ):
            return str(n_trees)
    return f"more than {found.tree_counts[-1]}"


def _ratios(found: Draws, k: int) -> list[tuple[Mean, Mean]]:
    """Return for each N the relative error of K against that of K = 1: global and local.

    The largest forests; global values of all T agree up to the variance of the trees.
    """
    own, base = found.squared(k, _INFINITE - 1), found.squared(0, _INFINITE - 1)
    return [
        (ratio(own[0][n], base[0][n]), ratio(own[1][n], base[1][n]))
        for n in range(len(found.sizes))
    ]


def _answers(found: Draws) -> list[str]:
    """Return the answer to Section 3.2 for every K > 1, from the ratios."""
    texts = []
    for k in range(1, len(KS)):
        pairs = _ratios(found, k)
        parts = []
        for word, means in zip(("Global", "local"), zip(*pairs, strict=True), strict=True):
            less = [n for n, m in zip(found.sizes, means, strict=True) if m.value + 2 * m.error < 1]
            more = [n for n, m in zip(found.sizes, means, strict=True) if m.value - 2 * m.error > 1]
            parts.append(f"{word} values: {_verdict(less, more, n_sizes=len(means))}")
        gap = found.separated(k, _INFINITE).mean() - found.separated(0, _INFINITE).mean()
        paired = found.separated(k, _INFINITE).astype(float) - found.separated(0, _INFINITE)
        mean = Mean(float(gap), Mean.of(paired.ravel()).error)
        word = {1: "more often", 0: "about as often", -1: "less often"}[mean.sign]
        texts.append(
            f"Is K = {KS[k]} more statistically efficient than K = 1 (Sec. 3.2)? With five coins: "
            f"{'; '.join(parts)}. It puts all features that matter before all noise {word} "
            f"({100 * mean.value:+.1f} ± {100 * mean.error:.1f} percentage points over all N). "
            "Among many features it may be otherwise: python -m paper --only efficiency."
        )
    return texts


def _verdict(less: list[int], more: list[int], *, n_sizes: int) -> str:
    """Return at which N the relative error is smaller, at which larger, by two standard errors.

    Examples
    --------
    >>> _verdict([100], [], n_sizes=2)
    'yes at N = 100, undecided elsewhere'
    """
    if len(less) == n_sizes:
        return "yes, at every N"
    if len(more) == n_sizes:
        return "no, at every N"
    parts = [
        f"{word} at N = {', '.join(map(str, sizes))}"
        for word, sizes in (("yes", less), ("no", more))
        if sizes
    ]
    if len(less) + len(more) < n_sizes:
        parts.append("undecided elsewhere" if parts else "undecided at every N")
    return ", ".join(parts)


def _table(found: Draws) -> Table:
    rows = []
    for n, size in enumerate(found.sizes):
        error = found.errors[n, :, 0, _INFINITE]
        relevant, noise = error[:, 0, :N_RELEVANT], error[:, 0, N_RELEVANT:]
        local = error[:, 1:]
        rows.append(
            (
                size,
                *(f"{m.value:.4f} ± {m.error:.4f}" for m in _biases(relevant, noise)),
                f"{float(line(size)):.4f}",
                f"{error[:, 0].var(axis=0, ddof=1).mean():.2e}",
                f"{(error[:, 0] ** 2).mean():.2e}",
                f"{local.var(axis=0, ddof=1).mean():.2e}",
                f"{(local**2).mean():.2e}",
            )
        )
    return Table(
        "finite",
        "Infinitely many trees, K = 1, on samples of N rows, against the exact values in bits: "
        f"means over {found.values.shape[1]} samples and over features; local values also over "
        "the 32 cells.",
        (
            "N",
            "bias, matters",
            "bias, noise",
            "bias, theory",
            "variance",
            "MSE",
            "local variance",
            "local MSE",
        ),
        tuple(rows),
    )


def _biases(*errors: np.ndarray) -> list[Mean]:
    return [Mean.of(error.mean(axis=1)) for error in errors]


def _k_table(found: Draws) -> Table:
    rows = []
    for k in range(1, len(KS)):
        for size, (whole, local) in zip(found.sizes, _ratios(found, k), strict=True):
            n = found.sizes.index(size)
            shares = [found.separated(i, _INFINITE)[n].mean() for i in (0, k)]
            rows.append((KS[k], size, f"{whole}", f"{local}", *(f"{s:.2f}" for s in shares)))
    return Table(
        "finite-k",
        "Relative mean squared error of K against that of K = 1, each against its own exact "
        f"value, forests of {found.tree_counts[-1]} trees; below 1, K is more efficient. Last: "
        "share of samples where all features that matter come before all noise, infinitely many "
        "trees.",
        (
            "K",
            "N",
            "global, ratio to K = 1",
            "local, ratio to K = 1",
            "in order, K = 1",
            "in order, K",
        ),
        tuple(rows),
    )


def _by_rows(found: Draws) -> Picture:
    sizes = np.array(found.sizes)
    with style():
        figure = new_figure(TEXT, 2.6)
        left, right = figure.subplots(1, 2)
        error = found.errors[:, :, 0, _INFINITE, 0]
        groups = {"features that matter": slice(0, N_RELEVANT), "noise": slice(N_RELEVANT, None)}
        for (label, at), colour, marker in zip(groups.items(), _COLOURS, "os", strict=False):
            bias = [Mean.of(error[n, :, at].mean(axis=1)) for n in range(len(sizes))]
            look = {"color": colour, "marker": marker, "label": label, "ls": "none"}
            left.errorbar(sizes, [b.value for b in bias], yerr=[2 * b.error for b in bias], **look)
        left.plot(sizes, line(sizes), color="#595959", label="theory")
        left.set(xscale="log", yscale="log", xlabel="N", ylabel="bias of global MDI, bits")
        left.legend()
        local = found.errors[:, :, 0, _INFINITE, 1:]
        for label, values, colour in (
            ("global", error[:, :, np.newaxis], _COLOURS[0]),
            ("local", local, _COLOURS[1]),
        ):
            squared = (values.mean(axis=1) ** 2).mean(axis=(1, 2))
            variance = values.var(axis=1, ddof=1).mean(axis=(1, 2))
            right.plot(sizes, squared, "--", color=colour, label=f"{label}: squared bias")
            right.plot(sizes, variance, ":", color=colour, label=f"{label}: variance")
            right.plot(sizes, squared + variance, "-o", color=colour, label=f"{label}: MSE")
        right.set(xscale="log", yscale="log", xlabel="N", ylabel="squared bits")
        right.legend(fontsize=6.5)
    return Picture(
        "finite-rows",
        "Infinitely many trees, K = 1. Left: bias of global MDI, with two standard errors, and the "
        "line of theory. Right: mean squared error and its two parts, global and local.",
        figure,
    )


def _by_trees(found: Draws) -> Picture:
    counts = np.array(found.tree_counts)
    with style():
        figure = new_figure(TEXT, 2.6)
        left, right = figure.subplots(1, 2)
        for n, colour in zip(range(0, len(found.sizes), 2), _COLOURS, strict=False):
            means = [_tree_variance(found, n, t=t) for t in range(len(counts))]
            values = np.array([m.value for m in means])
            label = f"N = {found.sizes[n]}"
            left.errorbar(
                counts,
                values,
                yerr=[2 * m.error for m in means],
                color=colour,
                marker="o",
                ls="none",
                label=label,
            )
            left.plot(counts, values[0] / counts, color=colour, linewidth=0.8)
            whole = [
                (found.errors[n, :, 0, t, 0] ** 2).sum(axis=1).mean() for t in range(len(counts))
            ]
            right.plot(counts, whole, "o-", color=colour, label=label)
            right.axhline(_sample_error(found, n), color=colour, linewidth=0.8, linestyle=":")
        for ax, label in ((left, "variance of the trees"), (right, "mean squared error")):
            ax.set(xscale="log", yscale="log", xlabel="trees", ylabel=f"{label}, squared bits")
        left.legend()
    return Picture(
        "finite-trees",
        "Global MDI of T trees, K = 1, summed over features. Left: squared distance from "
        "infinitely many trees on the same rows; lines: the value of one tree divided by T. Right: "
        "squared distance from the exact value; dotted: infinitely many trees.",
        figure,
    )


def _by_k(found: Draws) -> Picture:
    with style():
        figure = new_figure(TEXT, 2.6)
        axes = figure.subplots(1, 2, sharey=True)
        for k in range(1, len(KS)):
            for ax, means in zip(axes, zip(*_ratios(found, k), strict=True), strict=True):
                ax.errorbar(
                    found.sizes,
                    [m.value for m in means],
                    yerr=[2 * m.error for m in means],
                    color=_COLOURS[k],
                    marker="os^"[k],
                    label=f"K = {KS[k]}",
                )
        for ax, title in zip(axes, ("global MDI", "local MDI"), strict=True):
            ax.axhline(1, color="#595959", linewidth=0.8)
            ax.set(xscale="log", yscale="log", xlabel="N")
            ax.set_title(title, loc="left")
        axes[0].set_ylabel("relative MSE, K against K = 1")
        axes[0].legend()
    return Picture(
        "finite-k",
        "Relative mean squared error of K against K = 1, each against its own exact value, with "
        f"two standard errors; forests of {found.tree_counts[-1]} trees. Below the line, K is more "
        "efficient.",
        figure,
    )
