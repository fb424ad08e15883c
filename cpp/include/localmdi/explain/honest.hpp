// Honest values: what a split tells about rows that its tree has not seen.
//
// A tree was grown on some rows, which gave each node t a law p(t). Other rows, held out, give it a
// law q(t). The honest gain of the edge t → c is linear in q, so that a split on noise, whose q(c)
// and q(t) have the same mean, gives nothing on average (docs/theory/algorithms.md, "Honest
// values"):
//
//     g(c) · (q(c) − q(t)),  g(c) = gain_slope(p(t), p(c)) by class
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

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/forest/forest_view.hpp"
#include "localmdi/support/criterion.hpp"

namespace localmdi::explain {

// What the rows answered: n_entries numbers each, by column of the nodes' laws. Classes: column
// (offset of the output + class), value 1; numbers: every output, its value.
struct Responses {
    std::size_t n_entries;
    std::span<const std::int32_t> column;  // n_rows × n_entries
    std::span<const double> value;         // likewise

    std::size_t n_rows() const { return column.size() / n_entries; }
};

struct HonestRules {
    support::Criterion criterion;
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
    double* weight;         // n_rows: Σ tree weight over the trees that did not see the row
};

// The rows that the trees have seen; empty if they are not known.
struct InBagRows {
    std::span<const double> weight;       // n_trees × n_rows; 0: not seen
    std::span<const double> node_weight;  // of the nodes of the whole forest
};

// The mean gain of a tree over the M rows that it has not seen is a sum over pairs of a row j that
// it has seen and a row i that it has not,
//
//     gain = Σ over edges t → c  Σ_ij w_i w_j (y_i − q(t)) ρ (y_j − p(t)) / (M N(c)),
//
// with i and j in c, N(c) the weight that c was grown on, and ρ = g / (p(c) − p(t)) by class, 1 for
// Gini and the variance. Under "this feature tells nothing" both residuals have the mean zero, and
// the sum varies with the rows in either role: `out` has its parts by i, `in` those by j. Each of
// them sums to the gain.
struct Influence {
    double* out;  // n_rows × n_features
    double* in;   // likewise
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
    void sum_up(const Run& run, support::Interrupt& interrupt);
    void set_forms(const Run& run, support::Interrupt& interrupt);

    // For rows that are not among the held-out ones, by node of the whole forest: amounts, and the
    // amounts for every sign (n_signs × n_nodes of the whole forest). signed_amount may be empty.
    void credits(std::span<double> amount, std::span<double> signed_amount) const;

    // Explains held-out rows that were added before, over the trees that did not see them: a row
    // gets what the others tell, without its own label.
    void explain(const RoutedRows& rows, std::span<const double> tree_weight,
                 const HonestSums& sums, const Run& run, support::Interrupt& interrupt) const;

    // Adds what each row has to do with the mean gain over the held-out rows: see `Influence`.
    void influence(const RoutedRows& rows, const InBagRows& in_bag,
                   std::span<const double> tree_weight, const Influence& sums, const Run& run,
                   support::Interrupt& interrupt) const;

    // Held-out rows that reached each node of these trees, by node of the whole forest.
    void counts(std::span<double> reached) const;

    std::size_t n_trees() const { return last_ - first_; }
    std::size_t n_signs() const { return n_signs_; }

private:
    // A row as one tree sees it.
    struct Row {
        double weight;  // of an unseen row; 0: of no row at all
        std::span<const std::int32_t> column;
        std::span<const double> value;
        std::span<const std::int8_t> signs;
    };
    struct Step;
    class Path;

    std::size_t at(std::size_t node) const { return node - first_node_; }
    std::size_t root(std::size_t tree) const {
        return at(static_cast<std::size_t>(forest_.tree_offset[tree]));
    }
    double centre(std::size_t tree, std::size_t column) const;
    Row row(const RoutedRows& rows, std::size_t i, double weight) const;
    void add_tree(std::size_t tree, const RoutedRows& rows);
    void sum_up_tree(std::size_t tree);
    void set_tree_forms(std::size_t tree);
    void gain_forms(std::size_t tree, std::size_t node);
    void signed_forms(std::size_t node);
    double own_form(std::size_t tree, std::size_t node, const Row& row) const;
    bool is_counted(std::size_t node, const Row& row) const;
    void climb_gain(std::size_t tree, std::size_t leaf, const Row& row, Path& path) const;
    void add_parts(std::size_t tree, std::size_t leaf, const Row& row, double scale,
                   double* parts) const;
    void add_in_bag_parts(std::size_t tree, std::size_t leaf, const Row& row,
                          std::span<const double> node_weight, double scale, double* parts) const;
    void tabulate(std::size_t tree);
    bool is_tabulated(std::size_t tree) const {
        return !table_.empty() && row_weight_[tree - first_] > 0;
    }
    void climb_table(std::size_t leaf, std::size_t column, std::size_t row, double tree_weight,
                     const HonestSums& sums) const;
    void follow(std::size_t node, std::vector<Step>& climb) const;
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
        double at_child = 0, at_parent = 0;  // g·S(c), g·S(t)
    };
    std::vector<Node> nodes_;
    std::vector<double> sums_;   // S, by column
    std::vector<double> slope_;  // g of the edge from the parent
    // Where all held-out rows of a tree weigh the same, what a row reads depends on its class only:
    // per node and class the amount of the edge. Not with signs or several outputs.
    std::vector<double> table_;
    std::vector<double> row_weight_;  // per tree: that weight; 0: no row yet, −1: they differ
    // Per node and sign: Σ ± w r by column and Σ ± w; then, as at_child and at_parent, the forms
    // of the residuals.
    std::vector<double> signed_sums_, signed_child_, signed_parent_;
};

}  // namespace localmdi::explain
