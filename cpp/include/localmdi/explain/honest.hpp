// Honest values: what a split tells about rows that its tree has not seen.
//
// A tree was grown on some rows, which gave each node t a law p(t). Other rows, held out, give it a
// law q(t). An honest amount of the edge t → c is linear in q, so that a split on noise, whose q(c)
// and q(t) have the same mean, gives nothing on average (docs/theory/algorithms.md, "Honest
// values"):
//
//     gain   g(c) · (q(c) − q(t)),  g(c) = gain_slope(p(t), p(c)) by class
//     drop   F(t) − F(c),           F = a + b · q, the impurity of q as seen with p:
//                Gini      1 − p·q
//                variance  E'[y²] − p·q, with y and p centred at the root's p
//                entropy   −Σ q·log2 p̃, the cross entropy, p̃ = p shrunk towards the parent
//
// Without p̃ the cross entropy would be infinite as soon as a leaf meets a class that it has not
// seen. p̃ = (n p + κ p̃(parent)) / (n + κ) counts the parent for κ rows; `PriorChoice`
// finds the κ with the least cross entropy at the leaves. For noise it is large: nothing is
// removed.
//
// A row that is itself held out is explained without its own label: its weight w and response r are
// taken out of the sums S and W that make q = S / W. With γ = g·r this costs a few operations,
//
//     (g·S(c) − wγ) / (W(c) − w) − (g·S(t) − wγ) / (W(t) − w),
//
// because g·S is known for every edge. So a row climbs from its leaf to the root and reads, at each
// edge, two sums, two weights and one entry of g: no tree is walked twice.
//
// Example: Gini, two classes, 4 held-out rows at the root (classes 0 0 1 1), of which 2 enter the
// child (0 0). p(root) = (½, ½), p(child) = (1, 0): g = (½, −½), g·S(child) = 1, g·S(root) = 0, and
// the gain of a new row in the child is 1/2 − 0/4 = ½. For a held-out row of class 0 in the child
// γ = ½: (1 − ½)/1 − (0 − ½)/3 = ⅔, what the other three rows tell.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/forest/forest_view.hpp"
#include "localmdi/support/criterion.hpp"

namespace localmdi::explain {

using support::Measure;

// What the rows answered: n_entries numbers each, by column of the nodes' laws. Classes: column
// (offset of the output + class), value 1; numbers: every output, its value.
struct Responses {
    std::size_t n_entries;
    std::span<const std::int32_t> column;  // n_rows × n_entries
    std::span<const double> value;         // likewise

    std::size_t n_rows() const { return column.size() / n_entries; }
};

enum class Label : std::uint8_t { left_out = 0, alone = 1 };

struct HonestRules {
    support::Criterion criterion;
    Measure measure;
    std::size_t min_rows;  // an edge counts if at least so many held-out rows took it
};

// Rows and where they ended in the trees of the block.
struct RoutedRows {
    std::span<const std::int64_t> leaf;  // n_rows × n_trees, nodes of the whole forest
    std::span<const double> held;        // n_trees × n_rows: weight of a held-out row, 0: seen
    Responses responses;
    // n_rows × n_signs, ±1, for label errors: the values with every held-out residual r − q(t)
    // times its sign have the variance that random labels would give. May be empty.
    std::span<const std::int8_t> signs;
    // Which rows `leaf` and `held` are about, if not all in their order. Faster if rows that ended
    // together come one after the other.
    std::span<const std::uint32_t> listed = {};

    bool is_list() const { return listed.data() != nullptr; }
    std::size_t n_rows() const { return is_list() ? listed.size() : responses.n_rows(); }
    std::size_t number(std::size_t i) const { return is_list() ? listed[i] : i; }
};

// Where the values of held-out rows are added up. Sums over trees, not divided by anything.
struct HonestSums {
    double* values;         // n_rows × n_features
    double* squares;        // likewise: of the trees' values; or null
    double* signed_values;  // n_rows × n_features × n_signs; or null
    double* residual;       // n_rows; drop only, else null
    double* baseline;       // likewise
    double* weight;         // n_rows: Σ tree weight over the trees that did not see the row
};

// κ of the entropy's drop: the power of two with the least loss, Σ −log2 p̃ over held-out rows
// where their paths end. A forest's first trees are asked until they have enough such rows;
// growing and explaining choose alike.
struct PriorChoice {
    static constexpr std::size_t kRows = 1 << 15, kPriors = 16;

    static double prior(std::size_t k) { return std::ldexp(1.0, static_cast<int>(k) - 1); }
    bool is_sure() const { return n_rows >= kRows; }
    double best() const {
        return prior(static_cast<std::size_t>(std::ranges::min_element(loss) - loss.begin()));
    }

    double n_rows = 0;
    std::array<double, kPriors> loss{};
};

// Some consecutive trees of a forest and the rows that they have not seen. law: n_nodes of the
// whole forest × n_columns; n_outputs: one entry per tree of the block.
class HonestTrees {
public:
    HonestTrees(const forest::ForestView& forest, std::size_t first, std::size_t last,
                std::span<const double> law, std::span<const double> n_outputs,
                const HonestRules& rules, std::size_t n_signs = 0);

    // Forgets everything but the rules and goes on with other trees, in the same memory.
    void begin(const forest::ForestView& forest, std::size_t first, std::size_t last,
               std::span<const double> law, std::span<const double> n_outputs);

    // Adds held-out rows; may be called for one batch after the other.
    void add(const RoutedRows& rows, const Run& run, support::Interrupt& interrupt);

    // After the last batch, first the sums of inner nodes, then the linear forms of all edges.
    // in_bag: the weights of the nodes of the whole forest, and κ, for the entropy's p̃.
    void sum_up(const Run& run, support::Interrupt& interrupt);
    void set_forms(std::span<const double> in_bag, double prior, const Run& run,
                   support::Interrupt& interrupt);

    // Adds the losses of these trees until the choice is sure.
    void add_losses(std::span<const double> in_bag, PriorChoice& choice) const;

    // For rows that are not among the held-out ones, by node of the whole forest: amounts, for the
    // drop what is left (nodes below the last edge that counts keep what is left there), and the
    // amounts for every sign (n_signs × n_nodes of the whole forest). remainder and signed_amount
    // may be empty.
    void credits(std::span<double> amount, std::span<double> remainder,
                 std::span<double> signed_amount) const;

    // Explains held-out rows that were added before, over the trees that did not see them. Without
    // its own label a row gets what the others tell; with its own label alone, in place of q(c) and
    // of the drop's q, it gets its part of the mean over the held-out rows: Σ W(c) · amount(c).
    void explain(const RoutedRows& rows, std::span<const double> tree_weight, Label label,
                 const HonestSums& sums, const Run& run, support::Interrupt& interrupt) const;

    // Held-out rows that reached each node of these trees, by node of the whole forest.
    void counts(std::span<double> reached) const;

    std::size_t n_trees() const { return last_ - first_; }
    std::size_t n_signs() const { return n_signs_; }
    const HonestRules& rules() const { return rules_; }

private:
    struct Row;
    struct Climb;
    class Path;

    std::size_t at(std::size_t node) const { return node - first_node_; }
    std::size_t root(std::size_t tree) const {
        return at(static_cast<std::size_t>(forest_.tree_offset[tree]));
    }
    double centre(std::size_t tree, std::size_t column) const;
    Row row(const RoutedRows& rows, std::size_t i, double weight) const;
    void add_tree(std::size_t tree, const RoutedRows& rows);
    void sum_up_tree(std::size_t tree);
    void set_tree_forms(std::size_t tree, std::span<const double> in_bag, double prior);
    std::vector<double> shrunk_laws(std::size_t tree, std::span<const double> in_bag,
                                    double prior) const;
    double cross_entropy(std::size_t tree, std::span<const double> in_bag, double prior) const;
    void gain_forms(std::size_t tree, std::size_t node);
    void signed_forms(std::size_t node);
    void drop_forms(std::size_t tree, std::size_t node, const double* shrunk);
    double own_form(std::size_t tree, std::size_t node, const Row& row) const;
    double level(std::size_t tree, std::size_t node, const Row& row) const;
    bool is_counted(std::size_t node, const Row& row) const;
    void climb_alone(std::size_t tree, std::size_t leaf, const Row& row, Path& path) const;
    void climb_gain(std::size_t tree, std::size_t leaf, const Row& row, Path& path) const;
    void climb_drop(std::size_t tree, std::size_t leaf, const Row& row, Path& path) const;
    void tabulate(std::size_t tree);
    bool is_tabulated(std::size_t tree) const {
        return !table_.empty() && row_weight_[tree - first_] > 0;
    }
    void climb_table(std::size_t leaf, std::size_t column, std::size_t row, double tree_weight,
                     const HonestSums& sums) const;
    void follow(std::size_t node, Climb& climb) const;
    void add_climb(const Climb& climb, std::size_t column, std::size_t row, double tree_weight,
                   const HonestSums& sums) const;
    void climb_together(std::size_t tree, const RoutedRows& rows, std::size_t begin,
                        std::size_t end, double tree_weight, const HonestSums& sums) const;

    forest::ForestView forest_;
    std::size_t first_ = 0, last_ = 0, first_node_ = 0, n_nodes_ = 0, n_columns_ = 0, n_signs_;
    std::span<const double> law_, n_outputs_;
    HonestRules rules_;
    // Per node of the block. What a row reads on its way up lies together.
    struct Node {
        std::uint32_t parent = 0;  // a root: itself
        std::int32_t feature = -1;
        double count = 0, weight = 0;        // held-out rows, and their weight W
        double at_child = 0, at_parent = 0;  // gain: g·S(c), g·S(t); drop: b·S, and a
    };
    std::vector<Node> nodes_;
    std::vector<double> square_;  // Σ w y², centred, over all outputs; variance only
    std::vector<double> sums_;    // S, by column
    std::vector<double> slope_;   // gain: g of the edge from the parent; drop: b
    // Where all held-out rows of a tree weigh the same, what a row reads depends on its class only:
    // per node and class, gain: the amount of the edge; drop: F. Not with signs or several outputs.
    std::vector<double> table_;
    std::vector<double> row_weight_;  // per tree: that weight; 0: no row yet, −1: they differ
    // Per node and sign: Σ ± w r by column and Σ ± w; then, as at_child and at_parent, the forms
    // of the residuals.
    std::vector<double> signed_sums_, signed_child_, signed_parent_;
};

}  // namespace localmdi::explain
