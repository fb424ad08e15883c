// The plain case: numbers without gaps, classes, every row counted once (all, or half of them), K =
// 1. Most forests are of this kind, and it can do without much of what TreeGrower spends its time
// on. The trees and the sums are the same, bit for bit.
//
// What it does without: weights (a node's size is its weight), sums in floating point (classes are
// counted in 32-bit integers), a second list for rows that do not count, and copies of the counts.
// At a split only the smaller child is counted; what is left in the parent's place is the other
// child's. Rows 3 of class 0 and 2 of class 1, the first child one row of class 0:
//
//     place of the parent   (3, 2)  →  (2, 2)   now the second child's
//     a new place                      (1, 0)   the first child's
//
// A place per level is enough: a node has its place, and the new one has the number of the child's
// depth, which no node that still waits has. Over a whole tree of n rows this counts O(n log n)
// rows, since a row is in the smaller half at most log2(n) times.
//
// Children that are leaves are finished at once, and one child takes its parent's place on the
// stack: nothing is pushed and popped for half of the nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/grow/branch.hpp"
#include "localmdi/grow/chunk.hpp"
#include "localmdi/grow/feature_pool.hpp"
#include "localmdi/grow/node_sums.hpp"
#include "localmdi/grow/number_table.hpp"
#include "localmdi/grow/row_draws.hpp"
#include "localmdi/grow/row_loops.hpp"

namespace localmdi::grow {

using support::has_avx2;

inline bool is_plain(const TrainingRows& rows, const GrowRules& rules) {
    const auto none = [](auto flags) {
        return std::ranges::all_of(flags, [](auto flag) { return flag == 0; });
    };
    return rules.max_features == 1 && rules.min_samples_leaf <= 1 && rules.min_weight_leaf <= 0 &&
           rules.min_impurity_decrease <= 0 && none(rows.categorical) && none(rows.missing) &&
           each_row_once(rows, rules);
}

template <class Sums>
class PlainGrower {
public:
    PlainGrower(const TrainingRows& rows, const Target& target, const GrowRules& rules,
                const Sums& criterion, const NumberTable& table, Interrupt& interrupt)
        : n_all_(static_cast<std::uint32_t>(rows.n_rows)),
          place_size_((target.n_values + kVector - 1) / kVector * kVector),
          label_(target.label.data()),
          rules_(rules),
          criterion_(criterion),
          table_(table),
          interrupt_(interrupt),
          halves_(rows.n_rows, rules.seed),
          pool_(rows.n_features),
          ids_(rows.n_rows + kListSlack),
          spare_(rows.n_rows + kListSlack),
          values_(rows.n_rows + kListSlack),
          all_counts_(place_size_),
          branch_(rows.n_features) {
        for (const std::uint32_t label : target.label) ++all_counts_[label];
    }

    // `keep`: whether the nodes stay in the chunk.
    void grow(std::size_t tree, GrowChunk& chunk, bool keep) {
        random_ = TreeRandom(rules_.seed, tree);
        chunk_ = &chunk;
        take_rows(tree);
        // Every leaf has a row; half of one row is none, and a root.
        chunk.tree.begin(std::max(2 * std::size_t{n_rows_}, std::size_t{1}), false);
        const double impurity = start();
#ifdef LOCALMDI_AVX2
        if (avx2_) visit_all_avx2();
#endif
        visit_all();
        branch_.return_to(0);
        chunk.finish_tree(impurity, n_rows_, keep);
    }

private:
    static constexpr std::size_t kVector = 4;

    struct Rows {
        std::uint32_t begin, end;  // among the ids
        std::uint32_t counts;      // the place where their classes are counted: at most the depth
        std::uint32_t size() const { return end - begin; }
    };

    struct Child {
        Rows rows;
        std::uint32_t node;
        double credit;  // of the split feature, on the path to the child
        double impurity;
        double weighted_impurity() const { return rows.size() * impurity; }
    };

    // A node that waits to be split.
    struct Node {
        std::uint32_t begin, end, counts;
        std::uint32_t node, depth;
        std::uint32_t feature;  // of the split above
        PoolState pool;
        double credit;  // of `feature`, on the path to this node
        double impurity;

        Rows rows() const { return {begin, end, counts}; }

        // Field by field: what was written a moment ago is slow to copy in larger pieces.
        void become(const Child& child) {
            begin = child.rows.begin;
            end = child.rows.end;
            counts = child.rows.counts;
            node = child.node;
            credit = child.credit;
            impurity = child.impurity;
        }
    };

    void take_rows(std::size_t tree) {
        n_rows_ = n_all_;
        if (!rules_.honest) return std::iota(ids_.begin(), ids_.begin() + n_rows_, 0u);
        const auto half = halves_.counted(tree);
        n_rows_ = static_cast<std::uint32_t>(half.size());
        std::ranges::copy(half, ids_.begin());
    }

    // Returns the impurity of the root.
    double start() {
        std::uint32_t* const counted = clear_counts(0);
        if (!rules_.honest) std::ranges::copy(all_counts_, counted);
        else
            for (std::uint32_t i = 0; i < n_rows_; ++i) ++counted[label_[ids_[i]]];
        const Rows all{0, n_rows_, 0};
        const double impurity = impurity_of(all);
        const std::uint32_t node = chunk_->tree.add(n_rows_);
        if (is_leaf(n_rows_, impurity, 0)) finish(all, node, impurity);
        else stack_.push_back({0, n_rows_, 0, node, 0, 0, pool_.reset(), 0, impurity});
        return impurity;
    }

    std::uint32_t* counts(std::size_t place) { return counts_.data() + place * place_size_; }

    std::uint32_t* clear_counts(std::size_t place) {
        const std::size_t end = (place + 1) * place_size_;
        if (counts_.size() < end) counts_.resize(2 * end);
        std::uint32_t* const cleared = counts(place);
        // For the few classes that there are, a call of memset would take longer.
        for (std::size_t c = 0; c < place_size_; c += kVector)
            std::fill_n(cleared + c, kVector, 0u);
        return cleared;
    }

    double impurity_of(Rows rows) {
        // Most leaves have one row, and one row has no impurity.
        return rows.size() > 1 ? criterion_.impurity(rows.size(), counts(rows.counts)) : 0.0;
    }

    bool is_leaf(std::uint32_t n, double impurity, std::uint32_t depth) const {
        return impurity == 0 || n < rules_.min_samples_split || depth >= rules_.max_depth;
    }

    void visit_all() {
        while (!stack_.empty()) {
            if (++n_visits_ % 4096 == 0) interrupt_.check();
            visit();
        }
    }
#ifdef LOCALMDI_AVX2
    LOCALMDI_AVX2_PIECE void visit_all_avx2() { visit_all(); }
#endif

    // Splits the node on top of the stack, and puts those of its children there that are no leaves.
    void visit() {
        Node& at = stack_.back();
        branch_.return_to(at.depth);
        branch_.credit(at.feature) = at.credit;
        while (at.pool.n_active > 0) {
            const std::uint32_t place = random_.below(at.pool.n_active);
            const std::uint32_t feature = pool_[place];
            const LowHigh range = load(feature, at.rows());
            if (range.low < range.high) return divide(at, feature, range);
            pool_.retire(place, at.pool);
        }
        finish(at.rows(), at.node, at.impurity);
        stack_.pop_back();
    }

    LowHigh load(std::uint32_t feature, Rows rows) {
        const auto entries = table_.entries(feature, rows.size());
        const std::uint32_t* const ids = ids_.data() + rows.begin;
#ifdef LOCALMDI_AVX2
        if (avx2_) return collect_avx2(entries, ids, rows.size(), values_.data());
#endif
        return collect(entries, ids, rows.size(), values_.data());
    }

    // By the feature loaded last.
    std::uint32_t order_ids(Rows rows, float cut) {
        const float* const values = values_.data();
        std::uint32_t* const ids = ids_.data() + rows.begin;
#ifdef LOCALMDI_AVX2
        const auto at_most = [=](std::uint32_t i) __attribute__((target("avx2"), always_inline)) {
            return at_most8(values + i, cut);
        };
        if (avx2_) return order_avx2(at_most, ids, rows.size(), spare_.data());
#endif
        const auto stays = [=](std::uint32_t i) { return values[i] <= cut; };
        return order(stays, ids, rows.size(), spare_.data());
    }

    void divide(Node& at, std::uint32_t feature, LowHigh range) {
        const Rows rows = at.rows();
        TreeWriter& tree = chunk_->tree;
        GrownNode& parent = tree[at.node];
        parent.kind = SplitKind::less_equal;
        parent.feature = static_cast<std::int32_t>(feature);
        parent.first_child = tree.size();
        parent.threshold = random_.cut(range.low, range.high);
        const std::uint32_t middle = rows.begin + order_ids(rows, parent.threshold);
        branch_.enter(feature);
        const double before = branch_.credit(feature);
        const auto child = [&](Rows its_rows) -> Child {
            const double impurity = impurity_of(its_rows);
            // Definition 1: what the row gains by going from t to this child belongs to the
            // feature.
            const double credit = before + (at.impurity - impurity);
            return {its_rows, tree.add(its_rows.size()), credit, impurity};
        };
        const auto [first_rows, second_rows] = count_children(rows, middle, at.depth + 1);
        const Child first = child(first_rows), second = child(second_rows);
        const double left = first.weighted_impurity() + second.weighted_impurity();
        chunk_->add_decrease(feature, rows.size() * at.impurity - left);
        at.feature = feature;
        ++at.depth;
        enter(first, second, at);
    }

    // Children that are leaves are finished at once; the others take the place of their parent.
    void enter(const Child& first, const Child& second, Node& at) {
        const bool first_ends = is_leaf(first.rows.size(), first.impurity, at.depth);
        const bool second_ends = is_leaf(second.rows.size(), second.impurity, at.depth);
        double& credit = branch_.credit(at.feature);
        if (first_ends) {
            credit = first.credit;
            finish(first.rows, first.node, first.impurity);
        }
        if (second_ends) {
            credit = second.credit;
            finish(second.rows, second.node, second.impurity);
        }
        if (first_ends && second_ends) return stack_.pop_back();
        if (first_ends) return at.become(second);
        at.become(first);
        if (second_ends) return;
        const std::uint32_t depth = at.depth, feature = at.feature, n_active = at.pool.n_active;
        Node& top = stack_.emplace_back();
        top.depth = depth;
        top.feature = feature;
        top.pool.n_active = n_active;
        top.become(second);
    }

    // Counts the classes of the smaller child in a place that no waiting node has; the other child
    // gets the place of their parent, and what is left there.
    std::pair<Rows, Rows> count_children(Rows rows, std::uint32_t middle, std::uint32_t place) {
        const bool first_is_less = middle - rows.begin <= rows.end - middle;
        const std::uint32_t begin = first_is_less ? rows.begin : middle,
                            end = first_is_less ? middle : rows.end;
        if (rows.size() > 2) {  // nobody asks for the counts of a single row
            std::uint32_t* const few = clear_counts(place);
            move_counts({ids_.data() + begin, end - begin}, few, counts(rows.counts));
        }
        return {{rows.begin, middle, first_is_less ? place : rows.counts},
                {middle, rows.end, first_is_less ? rows.counts : place}};
    }

    // Counts the classes of some rows, and takes them off those of all.
    void move_counts(std::span<const std::uint32_t> ids, std::uint32_t* few, std::uint32_t* rest) {
#ifdef LOCALMDI_AVX2
        if (avx2_ && place_size_ <= kMostCounted)
            return move_counts_avx2(label_, ids, place_size_, few, rest);
#endif
        for (const std::uint32_t id : ids) {
            ++few[label_[id]];
            --rest[label_[id]];
        }
    }

    std::span<const std::uint32_t> ids(Rows rows) const {
        return {ids_.data() + rows.begin, rows.size()};
    }

    void finish(Rows rows, std::uint32_t node, double impurity) {
        chunk_->tree[node].first_child =
            criterion_.store_counts(counts(rows.counts), impurity, ids(rows), chunk_->tree);
        chunk_->add_rows({0, branch_.credits(), branch_.path(), impurity}, ids(rows));
    }

    std::uint32_t n_all_, n_rows_ = 0;  // of the sample, and of the tree
    std::size_t place_size_;            // for the counts of all classes
    const std::uint32_t* label_;
    const GrowRules& rules_;
    const Sums& criterion_;
    const NumberTable& table_;
    Interrupt& interrupt_;

    HalfDraws halves_;
    FeaturePool pool_;
    TreeRandom random_{0, 0};
    GrowChunk* chunk_ = nullptr;
    std::size_t n_visits_ = 0;
    std::vector<std::uint32_t> ids_, spare_;  // the rows, of which every node owns a part
    std::vector<float> values_;               // of the node's rows
    std::vector<std::uint32_t> all_counts_;   // of the classes, among all rows
    std::vector<std::uint32_t> counts_;       // of the classes, place after place
    std::vector<Node> stack_;                 // the nodes that wait
    Branch branch_;
    bool avx2_ = has_avx2();
};

}  // namespace localmdi::grow
