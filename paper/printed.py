"""The numbers the paper prints, carried over digit by digit (Sutera et al., NeurIPS 2021)."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["DATASETS", "EXAMPLE_1", "EXAMPLE_2", "MISPRINTS", "SUMMARY", "VERSIONS"]

# Appendix C: the packages the paper used.
VERSIONS = MappingProxyType(
    {
        "treeinterpreter": "0.1.0",
        "shap": "0.38.2",
        "sage-importance": "no version; downloaded on 6 February 2021",
        "scikit-learn": "not given",
    }
)

# Appendix E, table of datasets: rows, features, types of the features.
DATASETS = MappingProxyType(
    {
        "led": (10, 7, "Binary"),
        "led_sampled": (200, 7, "Binary"),
        "digits": (1797, 64, "Integer"),
        "iris": (150, 4, "Real"),
        "wine": (178, 13, "Integer, Real"),
        "breast_cancer": (569, 30, "Real"),
    }
)

# Appendix E, summary of results: average, standard deviation, shares of the rows with a
# correlation of at least .9 and of at least .75 in percent; local MDI against the measure.
SUMMARY = MappingProxyType(
    {
        ("wine", "Saabas", "Pearson"): ("0.906", "0.101", "72.47", "91.57"),
        ("wine", "Saabas", "Spearman"): ("0.843", "0.128", "44.38", "80.90"),
        ("iris", "Saabas", "Pearson"): ("0.949", "0.156", "89.33", "95.33"),
        ("iris", "Saabas", "Spearman"): ("0.892", "0.231", "67.33", "91.33"),
        ("breast_cancer", "Saabas", "Pearson"): ("0.899", "0.220", "79.96", "91.04"),
        ("breast_cancer", "Saabas", "Spearman"): ("0.857", "0.255", "68.19", "84.71"),
        ("led", "Saabas", "Pearson"): ("0.980", "0.025", "100.00", "100.00"),
        ("led", "Saabas", "Spearman"): ("0.989", "0.016", "100.00", "100.00"),
        ("led_sampled", "Saabas", "Pearson"): ("0.970", "0.034", "100.00", "87.00"),
        ("led_sampled", "Saabas", "Spearman"): ("0.978", "0.017", "100.00", "100.00"),
        ("digits", "Saabas", "Pearson"): ("0.915", "0.045", "69.84", "99.44"),
        ("digits", "Saabas", "Spearman"): ("0.899", "0.045", "55.65", "99.50"),
        ("wine", "TreeSHAP", "Pearson"): ("0.900", "0.104", "70.22", "90.45"),
        ("wine", "TreeSHAP", "Spearman"): ("0.852", "0.121", "47.75", "82.02"),
        ("iris", "TreeSHAP", "Pearson"): ("0.947", "0.150", "88.00", "96.67"),
        ("iris", "TreeSHAP", "Spearman"): ("0.881", "0.186", "56.67", "92.00"),
        ("breast_cancer", "TreeSHAP", "Pearson"): ("0.888", "0.223", "79.26", "90.33"),
        ("breast_cancer", "TreeSHAP", "Spearman"): ("0.841", "0.254", "62.57", "84.18"),
        ("led", "TreeSHAP", "Pearson"): ("1.000", "0.000", "100.00", "100.00"),
        ("led", "TreeSHAP", "Spearman"): ("1.000", "0.000", "100.00", "100.00"),
        ("led_sampled", "TreeSHAP", "Pearson"): ("0.990", "0.009", "100.00", "100.00"),
        ("led_sampled", "TreeSHAP", "Spearman"): ("0.988", "0.017", "100.00", "100.00"),
        ("digits", "TreeSHAP", "Pearson"): ("0.881", "0.047", "38.01", "98.39"),
        ("digits", "TreeSHAP", "Spearman"): ("0.891", "0.041", "44.80", "99.55"),
    }
)

# Appendix B, Example 1: information terms and the importances of the single tree of K = 2, in the
# order of the paper's equations; output 1 and output 2.
EXAMPLE_1 = MappingProxyType(
    {
        "I(Y;X_1)": ("0.091", "0.002"),
        "I(Y;X_1|X_2)": ("0.269", "0.243"),
        "I(Y;X_2)": ("0.002", "0.016"),
        "I(Y;X_2|X_1)": ("0.180", "0.258"),
        "Imp^{K=2}(X_1)": ("0.091", "0.243"),
        "Imp^{K=2}(X_2)": ("0.180", "0.016"),
    }
)

# Appendix B, Example 2 and its table.
EXAMPLE_2 = MappingProxyType(
    {"H(Y)": "0.81", "H(Y|X_1=0)": "1", "H(Y|X_1=1)": "0", "Imp(X_1, 0)": "-0.19"}
)

# Number, place, what is printed, what it should be; the evidence is in docs/theory/misprints.md.
MISPRINTS = (
    (
        "M1",
        "Appendix E, Led (sampled), Saabas, Pearson",
        "100.00 % ≥ .9 and 87.00 % ≥ .75",
        "The two shares are swapped.",
    ),
    (
        "M2",
        "Theorem 2, its proof, Appendix F",
        "B ∈ P(V^{-m})",
        "The subscript k is missing: B ∈ P_k(V^{-m}).",
    ),
    ("M3", "Section 6", "favors X_1 and X_4", "Counted from 0: X_2 and X_5."),
    (
        "M4",
        "Appendix F, footnote",
        "the impurity version of local irrelevance matches Definition 2 for the entropy",
        "It does not: equal entropies do not make equal distributions.",
    ),
    ("M5", "Appendix F", "Var(Y) - E_S{Var(Y|X)}", "Var(Y) - E_V{Var(Y|V)}"),
    ("M6", "Definition 2", "X = x_m", "X_m = x_m"),
    ("M7", "Section 3.2, efficiency", "v(S) = I(Y;V)", "v(V) = I(Y;V)"),
    ("M8", "Section 5", "expectations over p(V,X)", "over p(V,Y)"),
    ("M9", "Section 2, relevance", "B ⊂ V", "B ⊆ V^{-m}"),
    (
        "M10",
        "Section 2, footnote on the axioms",
        "the null player property can be derived from strong monotonicity",
        "From it together with efficiency and symmetry: a value that is 1 for every player of "
        "every game is strongly monotonic.",
    ),
    (
        "M11",
        "Appendix D, caption of the global figure",
        "for the global MDI importance measure and SAGE",
        "The figure shows SAGE (mse) and two versions of TreeSHAP.",
    ),
    (
        "M12",
        "Section 4.4, after Theorem 4",
        "coincides exactly with the null player property",
        "Only one way: a null player need not be locally irrelevant (the law of M4).",
    ),
    (
        "M13",
        "Section 2 and the experiments",
        "one K",
        "scikit-learn's max_features is not the theory's K for 1 < K < p.",
    ),
    (
        "M14",
        "Appendix A, proof of Theorem 3",
        "can be extended to continuous variables by changing P(X=x) to P(X≤x)",
        "Cumulative probabilities are neither necessary nor sufficient; conditional laws at almost "
        "every x are both.",
    ),
    (
        "M15",
        "Section 5",
        "local MDI scores are independent of output normalisation or scaling",
        "For classes. With the variance they scale as the square of the output.",
    ),
    (
        "M16",
        "Appendix G, footnote",
        "all probabilities are strictly positive, without fundamental limitation",
        "It excludes led, and all laws in which strongly relevant features do not tell everything.",
    ),
)
