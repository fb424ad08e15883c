// Honest values while growing: each tree explains the half of the rows that it was not grown on, as
// soon as it is there (explain/honest.hpp), and may be forgotten then.
//
// The rows are sent down together, node after node, but no further than their values depend on it:
// where fewer than min_rows of them arrive, all of them stop. A fully grown tree is mostly below
// such nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "localmdi/explain/honest.hpp"
#include "localmdi/forest/routing.hpp"
#include "localmdi/grow/chunk.hpp"
#include "localmdi/grow/row_draws.hpp"
#include "localmdi/grow/row_loops.hpp"

namespace localmdi::grow {

using explain::HonestTrees;
using forest::Question;

// What the rows answered, as explain/honest.hpp wants it.
class RowResponses {
public:
    explicit RowResponses(const Target& target) {
        if (target.criterion != Criterion::variance) {
            column_.assign(target.label.begin(), target.label.end());
            ones_.assign(column_.size(), 1.0);
            view = {1, column_, ones_};
            return;
        }
        column_.resize(target.response.size());
        for (std::size_t i = 0; i < column_.size(); ++i)
            column_[i] = static_cast<std::int32_t>(i % target.n_values);
        view = {target.n_values, column_, target.response};
    }
    RowResponses(const RowResponses&) = delete;
    RowResponses& operator=(const RowResponses&) = delete;

    explain::Responses view{};

private:
    std::vector<std::int32_t> column_;
    std::vector<double> ones_;
};

class HonestRows {
public:
    HonestRows(const TrainingRows& rows, const Target& target, const GrowRules& rules,
               const explain::Responses& responses, Interrupt& interrupt)
        : rows_(rows),
          rules_(rules),
          responses_(responses),
          interrupt_(interrupt),
          halves_(rows.n_rows, rules.seed),
          criterion_(target.criterion),
          n_values_(target.n_values),
          n_outputs_(criterion_ == Criterion::variance ? static_cast<double>(n_values_) : 1.0),
          ids_(rows.n_rows + kListSlack),
          spare_(rows.n_rows + kListSlack),
          values_(rows.n_rows + kListSlack),
          leaf_(rows.n_rows),
          held_(rows.n_rows, 1.0),
          weighs_one_(each_row_once(rows, rules)) {}

    // Adds the values of the rows that the chunk's last tree was not grown on.
    void explain(std::size_t tree, GrowChunk& chunk) {
        const GrownTree& grown = chunk.last_tree();
        const auto rows = halves_.held_out(tree);
        n_held_ = static_cast<std::uint32_t>(rows.size());
        std::ranges::copy(rows, ids_.begin());
        // To predict, rows go on to the leaves where their values do not depend on it.
        route(grown, {0, n_held_}, chunk.predicts() ? 1 : rules_.min_rows);
        if (!weighs_one_)
            for (std::uint32_t i = 0; i < n_held_; ++i) held_[i] = rows_.weight[ids_[i]];
        set_laws(grown);
        add_gains(chunk.honest_sums());
        if (chunk.predicts()) predict(chunk);
    }

private:
    struct Part {
        std::uint32_t begin = 0, end = 0;
        std::uint32_t size() const { return end - begin; }
    };

    void add_gains(const explain::HonestSums& sums) {
        const double tree_weight = 1;
        const forest::ForestView nodes = table();
        const std::span<const double> n_outputs{&n_outputs_, 1};
        if (trees_) trees_->begin(nodes, 0, 1, law_, n_outputs);
        else
            trees_.emplace(nodes, 0, 1, law_, n_outputs,
                           explain::HonestRules{criterion_, rules_.min_rows});
        trees_->add(routed(), {}, interrupt_);
        trees_->sum_up({}, interrupt_);
        trees_->set_forms({}, interrupt_);
        trees_->explain(routed(), {&tree_weight, 1}, sums, {}, interrupt_);
    }

    explain::RoutedRows routed() const {
        return {{leaf_.data(), n_held_},
                {held_.data(), n_held_},
                responses_,
                {},
                {ids_.data(), n_held_}};
    }

    // The nodes down to where rows stop, with the columns of a node table that honest values need.
    forest::ForestView table() {
        tree_offset_[1] = static_cast<std::int64_t>(source_.size());
        child_.resize(source_.size() - 1);  // level by level, every node but the root is the next
        std::iota(child_.begin(), child_.end(), std::int64_t{1});
        return {.n_features = static_cast<std::int64_t>(rows_.n_features),
                .tree_offset = tree_offset_,
                .feature = feature_,
                .split_kind = {},
                .threshold = {},
                .child_offset = child_offset_,
                .child = child_,
                .missing_child = {},
                .category_offset = {},
                .category_bits = {}};
    }

    void set_laws(const GrownTree& grown) {
        const auto statistics = grown.statistics.items;
        law_.resize(source_.size() * n_values_);
        weight_.resize(source_.size());
        if (statistics.empty()) count_classes(grown);
        else copy_sums(grown);
        for (std::size_t i = 0; i < source_.size(); ++i) {
            double* const law = law_.data() + i * n_values_;
            weight_[i] = statistics.empty() ? std::accumulate(law, law + n_values_, 0.0)
                                            : statistics[source_[i]].weight;
            for (std::size_t v = 0; v < n_values_; ++v)
                law[v] = weight_[i] > 0 ? law[v] / weight_[i] : 0;
        }
    }

    void copy_sums(const GrownTree& grown) {
        all_sums_.resize(grown.nodes.items.size() * n_values_);
        sum_values(grown, n_values_, all_sums_.data());
        for (std::size_t i = 0; i < source_.size(); ++i)
            std::copy_n(all_sums_.data() + source_[i] * n_values_, n_values_,
                        law_.data() + i * n_values_);
    }

    // Of a tree without statistics, whose splits have two children. Whole numbers may be added in
    // any order: most nodes lie below those that rows reached and hand their rows to the last one
    // of these without sums of their own.
    void count_classes(const GrownTree& grown) {
        const auto nodes = grown.nodes.items;
        constexpr std::uint32_t kNone = ~std::uint32_t{0};
        owner_.assign(nodes.size(), kNone);
        for (std::uint32_t i = 0; i < source_.size(); ++i) owner_[source_[i]] = i;
        std::ranges::fill(law_, 0.0);
        for (std::size_t n = 0; n < nodes.size(); ++n) {  // children lie after their parents
            const GrownNode& node = nodes[n];
            const std::uint32_t own = owner_[n];
            if (node.kind != SplitKind::leaf) {
                for (std::uint32_t child = node.first_child; child < node.first_child + 2; ++child)
                    owner_[child] = owner_[child] == kNone ? own : owner_[child];
                continue;
            }
            double* const law = law_.data() + own * n_values_;
            if (node.first_child & kDense) {
                const double* const values =
                    grown.values.data() + (node.first_child ^ kDense) * n_values_;
                for (std::size_t v = 0; v < n_values_; ++v) law[v] += values[v];
            } else {
                law[node.first_child] += node.n_rows;
            }
        }
        for (std::size_t i = source_.size(); i-- > 1;)
            for (std::size_t v = 0; v < n_values_; ++v)
                law_[parent_[i] * n_values_ + v] += law_[i * n_values_ + v];
    }

    // Sends the rows down until fewer than `least` are together, and writes where they end.
    void route(const GrownTree& grown, Part all, std::size_t least) {
        source_.assign(1, 0);
        parent_.assign(1, 0);
        parts_.assign(1, all);
        feature_.clear();
        child_offset_.assign(1, 0);
        for (std::uint32_t i = 0; i < source_.size(); ++i) {
            const GrownNode& node = grown.nodes.items[source_[i]];
            const Part part = parts_[i];
            if (node.kind == SplitKind::leaf || part.size() < least) end(part, i);
            else if (node.kind == SplitKind::multiway) divide_by_code(grown, i, part);
            else divide(node, i, part);
            feature_.push_back(node.feature);
            child_offset_.push_back(static_cast<std::int64_t>(source_.size() - 1));
        }
    }

    // The next child of the node whose turn it is.
    void add_child(std::uint32_t source, std::uint32_t parent, Part part) {
        source_.push_back(source);
        parent_.push_back(parent);
        parts_.push_back(part);
    }

    void end(Part part, std::uint32_t node) {
        std::fill(leaf_.begin() + part.begin, leaf_.begin() + part.end, std::int64_t{node});
    }

    void divide(const GrownNode& node, std::uint32_t at, Part part) {
        const Question<float> question{node.threshold, node.missing_child == 0};
        const float* const x = rows_.column(static_cast<std::size_t>(node.feature));
        std::uint32_t* const ids = ids_.data() + part.begin;
        for (std::uint32_t i = 0; i < part.size(); ++i) values_[i] = x[ids[i]];
        const std::uint32_t middle = part.begin + order_by_side(question, values_.data(), ids,
                                                                part.size(), spare_.data(), avx2_);
        add_child(node.first_child, at, {part.begin, middle});
        add_child(node.first_child + 1, at, {middle, part.end});
    }

    // Rows whose category no row of the tree had at this node end here.
    void divide_by_code(const GrownTree& grown, std::uint32_t at, Part part) {
        const GrownNode& node = grown.nodes.items[source_[at]];
        const float* const x = rows_.column(static_cast<std::size_t>(node.feature));
        const auto code = [&](std::uint32_t i) { return static_cast<std::uint32_t>(x[ids_[i]]); };
        std::sort(
            ids_.begin() + part.begin, ids_.begin() + part.end,
            [&](std::uint32_t a, std::uint32_t b) { return x[a] != x[b] ? x[a] < x[b] : a < b; });
        std::uint32_t i = part.begin;
        for (std::uint32_t c = 0; c < n_children(grown, node); ++c) {
            const std::uint32_t own = grown.codes[node.codes + 1 + c];
            const std::uint32_t unknown = i;
            while (i < part.end && code(i) < own) ++i;
            end({unknown, i}, at);
            const std::uint32_t begin = i;
            while (i < part.end && code(i) == own) ++i;
            add_child(node.first_child + c, at, {begin, i});
        }
        end({i, part.end}, at);
    }

    void predict(GrowChunk& chunk) {
        std::vector<double> sums(n_values_ + 1);
        for (std::uint32_t i = 0; i < n_held_; ++i) {
            const auto at = static_cast<std::size_t>(leaf_[i]);
            sums[0] = weight_[at] > 0 ? 1 : 0;
            std::copy_n(law_.data() + at * n_values_, n_values_, sums.begin() + 1);
            chunk.add_out_of_bag(sums.data(), {&ids_[i], 1});
        }
    }

    const TrainingRows& rows_;
    const GrowRules& rules_;
    const explain::Responses& responses_;
    Interrupt& interrupt_;
    HalfDraws halves_;
    Criterion criterion_;
    std::size_t n_values_;
    double n_outputs_;

    // The held-out rows, of which every node owns a part, and some node's values of a feature.
    std::uint32_t n_held_ = 0;
    std::vector<std::uint32_t> ids_, spare_;
    std::vector<float> values_;
    // For each of them, in the order of the ids: where it ended, and its weight.
    std::vector<std::int64_t> leaf_;
    std::vector<double> held_;
    bool weighs_one_;  // whether all rows do
    // Per node down to where rows stop: its number in the tree, its parent among these nodes, its
    // rows, its law and weight.
    std::vector<std::uint32_t> source_, parent_;
    std::vector<Part> parts_;
    std::vector<double> law_, weight_;
    std::vector<std::int64_t> tree_offset_ = {0, 0};
    std::vector<std::int32_t> feature_;
    std::vector<std::int64_t> child_offset_, child_;
    LargeVector<double> all_sums_;      // of all nodes of the tree
    std::vector<std::uint32_t> owner_;  // likewise: the last node on its path that rows reached
    std::optional<HonestTrees> trees_;  // always one
    bool avx2_ = has_avx2();
};

}  // namespace localmdi::grow
