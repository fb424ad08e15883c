// The plain case: numbers without gaps, classes, every row counted once, K = 1. Most forests are of
// this kind, and it can do without much of what TreeGrower spends its time on. The trees and the
// sums are the same, bit for bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "localmdi/grow_chunk.hpp"
#include "localmdi/grow_criterion.hpp"
#include "localmdi/grow_features.hpp"
#include "localmdi/grow_simd.hpp"
#include "localmdi/grow_table.hpp"

namespace localmdi {

inline bool is_plain(const TrainingRows& rows, const GrowRules& rules) {
    const auto none = [](auto flags) {
        return std::ranges::all_of(flags, [](auto flag) { return flag == 0; });
    };
    return rules.max_features == 1 && rules.min_samples_leaf <= 1 && rules.min_weight_leaf <= 0 &&
           rules.min_impurity_decrease <= 0 && none(rows.categorical) && none(rows.missing) &&
           each_row_once(rows, rules);
}

template <class Sums, class Table>
class PlainGrower {
public:
    PlainGrower(const TrainingRows& rows, const Target& target, const GrowRules& rules,
                const Sums& criterion, const Table& table, Interrupt& interrupt)
        : n_rows_(static_cast<std::uint32_t>(rows.n_rows)),
          n_classes_(target.n_values),
          label_(target.label.data()),
          rules_(rules),
          criterion_(criterion),
          table_(table),
          interrupt_(interrupt),
          pool_(rows.n_features),
          ids_(rows.n_rows + kListSlack),
          spare_(rows.n_rows + kListSlack),
          values_(rows.n_rows + kListSlack),
          counts_(3 * n_classes_),
          credit_(rows.n_features),
          on_path_(rows.n_features) {}

    // `keep`: whether the nodes stay in the chunk.
    void grow(std::size_t tree, GrowChunk& chunk, bool keep) {
        random_ = TreeRandom(rules_.seed, tree);
        chunk_ = &chunk;
        chunk.tree.begin(2 * std::size_t{n_rows_}, false);  // every leaf has a row
        Node at = root();
        const double impurity = at.impurity;
        do {
            if (++n_visits_ % 4096 == 0) interrupt_.check();
        } while (split(at) || next(at));
        chunk.finish_tree(impurity, keep);
    }

private:
    using Value = Table::Value;

    struct Node {
        std::uint32_t begin, end;  // among the ids
        std::uint32_t node, depth;
        PoolState pool;
        std::uint32_t feature;  // of the split above
        bool subtree_ends;      // not a node: `feature` has the credit again that it had above
        double credit;          // of `feature`, on the path to this node
        double impurity;
        std::uint32_t size() const { return end - begin; }
    };

    // Of the node, and of the two children.
    std::uint32_t* counts(std::size_t which) { return counts_.data() + which * n_classes_; }

    Node root() {
        std::iota(ids_.begin(), ids_.begin() + n_rows_, 0u);
        std::fill_n(counts(0), n_classes_, 0u);
        for (std::uint32_t row = 0; row < n_rows_; ++row) ++counts_[label_[row]];
        const double impurity = criterion_.impurity(n_rows_, counts(0));
        Node root{0, n_rows_, 0, 0, pool_.reset(), 0, false, 0, impurity};
        chunk_->tree.add(n_rows_);
        if (is_leaf(root)) root.pool.n_active = 0;
        return root;
    }

    bool is_leaf(const Node& at) const {
        return at.impurity == 0 || at.size() < rules_.min_samples_split ||
               at.depth >= rules_.max_depth;
    }

    // Puts a child that is to be split next in place of the node; false if there is none.
    bool split(Node& at) {
        while (at.pool.n_active > 0) {
            const std::uint32_t place = random_.below(at.pool.n_active);
            const std::uint32_t feature = pool_[place];
            const LowHigh<Value> range = load(feature, at);
            if (range.low < range.high) return divide(at, feature, range);
            pool_.retire(place, at.pool);
        }
        finish(at, counts(0));
        return false;
    }

    LowHigh<Value> load(std::uint32_t feature, const Node& at) {
        const auto entries = table_.entries(feature, at.size());
        const std::uint32_t* const ids = ids_.data() + at.begin;
#ifdef LOCALMDI_AVX2
        if (avx2_) return collect_avx2(entries, ids, at.size(), values_.data());
#endif
        return collect(entries, ids, at.size(), values_.data());
    }

    std::uint32_t order_ids(const Node& at, Value cut) {
        std::uint32_t* const ids = ids_.data() + at.begin;
        const Value* const values = values_.data();
#ifdef LOCALMDI_AVX2
        const auto at_most = [=](std::uint32_t i) __attribute__((target("avx2"), always_inline)) {
            return at_most8(values + i, cut);
        };
        if (avx2_) return order_avx2(at_most, ids, at.size(), spare_.data());
#endif
        const auto stays = [=](std::uint32_t i) { return values[i] <= cut; };
        return order(stays, ids, at.size(), spare_.data());
    }

    bool divide(Node& at, std::uint32_t feature, LowHigh<Value> range) {
        constexpr std::uint32_t kSoon = 8;
        if (at.size() <= kSoon && at.size() > kSoon / 2) chunk_->expect_rows(rows(at));
        TreeWriter& tree = chunk_->tree;
        GrownNode& parent = tree[at.node];
        parent.kind = SplitKind::less_equal;
        parent.feature = static_cast<std::int32_t>(feature);
        parent.first_child = tree.size();
        const Value cut = table_.cut(feature, range, random_, parent.threshold);
        const std::uint32_t middle = at.begin + order_ids(at, cut);
        count_children(at, middle);
        const auto child = [&](std::uint32_t begin, std::uint32_t end, std::size_t which) {
            Node node{begin, end, 0, at.depth + 1, at.pool, feature, false, 0, 0};
            // Most leaves have one row, and one row has no impurity.
            if (end - begin > 1) node.impurity = criterion_.impurity(end - begin, counts(which));
            // Definition 1: what the row gains by going from t to this child belongs to the
            // feature.
            node.credit = credit_[feature] + (at.impurity - node.impurity);
            node.node = tree.add(end - begin);
            return node;
        };
        const Node first = child(at.begin, middle, 1), second = child(middle, at.end, 2);
        const double left = first.size() * first.impurity + second.size() * second.impurity;
        chunk_->add_decrease(feature, (at.size() * at.impurity - left) / n_rows_);
        return enter(first, second, at);
    }

    // Counts the smaller child; the other has the rest.
    void count_children(const Node& at, std::uint32_t middle) {
        const bool first = middle - at.begin <= at.end - middle;
        const std::uint32_t begin = first ? at.begin : middle, end = first ? middle : at.end;
        std::uint32_t* const few = counts(first ? 1 : 2);
        std::uint32_t* const rest = counts(first ? 2 : 1);
        for (std::size_t c = 0; c < n_classes_; ++c) few[c] = 0;
        for (std::uint32_t i = begin; i < end; ++i) ++few[label_[ids_[i]]];
        for (std::size_t c = 0; c < n_classes_; ++c) rest[c] = counts_[c] - few[c];
    }

    // Finishes the children that are leaves; of two that are none, the first waits.
    bool enter(const Node& first, const Node& second, Node& at) {
        const std::uint32_t feature = first.feature;
        const double before = credit_[feature];
        if (on_path_[feature]++ == 0) path_.push_back(feature);
        const bool first_ends = is_leaf(first), second_ends = is_leaf(second);
        if (first_ends) finish(first, counts(1));
        if (second_ends) finish(second, counts(2));
        if (first_ends && second_ends) {
            leave(feature, before);
            return false;
        }
        stack_.push_back({0, 0, 0, 0, {}, feature, true, before, 0});
        if (!first_ends && !second_ends) {
            stack_.push_back(first);
            waiting_counts_.insert(waiting_counts_.end(), counts(1), counts(2));
        }
        at = second_ends ? first : second;
        credit_[feature] = at.credit;
        std::copy_n(counts(second_ends ? 1 : 2), n_classes_, counts(0));
        return true;
    }

    // Takes a node that waits, after the ends of the subtrees before it.
    bool next(Node& at) {
        while (!stack_.empty()) {
            at = stack_.back();
            stack_.pop_back();
            if (at.subtree_ends) {
                leave(at.feature, at.credit);
                continue;
            }
            credit_[at.feature] = at.credit;
            const auto top = waiting_counts_.end() - static_cast<std::ptrdiff_t>(n_classes_);
            std::copy(top, waiting_counts_.end(), counts_.begin());
            waiting_counts_.erase(top, waiting_counts_.end());
            return true;
        }
        return false;
    }

    void leave(std::uint32_t feature, double credit) {
        credit_[feature] = credit;
        // Subtrees end in the reverse order in which they began.
        if (--on_path_[feature] == 0) path_.pop_back();
    }

    std::span<const std::uint32_t> rows(const Node& at) const {
        return {ids_.data() + at.begin, at.size()};
    }

    void finish(const Node& at, const std::uint32_t* counts) {
        credit_[at.feature] = at.credit;
        GrownNode& leaf = chunk_->tree[at.node];
        leaf.first_child = criterion_.store_counts(counts, at.impurity, rows(at), chunk_->tree);
        chunk_->add_rows({0, credit_, path_, at.impurity}, rows(at));
    }

    std::uint32_t n_rows_;
    std::size_t n_classes_;
    const std::uint32_t* label_;
    const GrowRules& rules_;
    const Sums& criterion_;
    const Table& table_;
    Interrupt& interrupt_;

    FeaturePool pool_;
    TreeRandom random_{0, 0};
    GrowChunk* chunk_ = nullptr;
    std::size_t n_visits_ = 0;
    std::vector<std::uint32_t> ids_, spare_;  // the rows, of which every node owns a part
    std::vector<Value> values_;               // of the node's rows
    std::vector<std::uint32_t> counts_;
    std::vector<Node> stack_;
    std::vector<std::uint32_t> waiting_counts_;  // of the nodes on the stack
    std::vector<double> credit_;          // per feature: what the path to the current node gained
    std::vector<std::uint32_t> on_path_;  // per feature: how often the path splits it
    std::vector<std::uint32_t> path_;     // the features on it
    bool avx2_ = has_avx2();
};

}  // namespace localmdi
