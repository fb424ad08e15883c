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
#include <span>
#include <vector>

#include "localmdi/explain/honest.hpp"
#include "localmdi/forest/routing.hpp"
#include "localmdi/grow/chunk.hpp"
#include "localmdi/grow/row_draws.hpp"
#include "localmdi/grow/row_loops.hpp"

namespace localmdi::grow {

using explain::HonestTrees;
using forest::goes_first;
using forest::kMissingFirst;
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
          leaf_(rows.n_rows),
          held_(rows.n_rows),
          ids_(rows.n_rows + kListSlack),
          spare_(rows.n_rows + kListSlack),
          values_(rows.n_rows + kListSlack) {}

    void add_losses(std::size_t tree, const GrownTree& grown, explain::PriorChoice& choice) {
        sums(tree, grown, false).add_losses(weight_, choice);
    }

    // Adds the values of the rows that the trees of a chunk were not grown on.
    void explain(std::size_t first, GrowChunk& chunk, double prior) {
        const double tree_weight = 1;
        for (std::size_t t = 0; t < chunk.trees().size(); ++t) {
            HonestTrees tree = sums(first + t, chunk.trees()[t], chunk.predicts());
            tree.set_forms(weight_, prior, {}, interrupt_);
            tree.explain(routed(), {&tree_weight, 1}, explain::Label::left_out,
                         chunk.honest_sums(rules_.measure), {}, interrupt_);
            if (chunk.predicts()) predict(first + t, chunk);
        }
    }

private:
    struct Part {
        std::uint32_t begin = 0, end = 0;
        std::uint32_t size() const { return end - begin; }
    };

    // `to_leaves`: the rows go on where their values do not depend on it.
    HonestTrees sums(std::size_t tree, const GrownTree& grown, bool to_leaves) {
        std::ranges::fill(held_, 0.0);
        const auto rows = halves_.held_out(tree);
        for (const std::uint32_t row : rows) held_[row] = rows_.weight[row];
        std::ranges::copy(rows, ids_.begin());
        route(grown, {0, static_cast<std::uint32_t>(rows.size())}, to_leaves ? 1 : rules_.min_rows);
        set_laws(grown);
        HonestTrees out(table(), 0, 1, law_, {&n_outputs_, 1},
                        {criterion_, rules_.measure, rules_.min_rows});
        out.add(routed(), {}, interrupt_);
        out.sum_up({}, interrupt_);
        return out;
    }

    explain::RoutedRows routed() const { return {leaf_, held_, responses_, {}}; }

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
        all_sums_.resize(grown.nodes.items.size() * n_values_);
        sum_values(grown, n_values_, all_sums_.data());
        law_.resize(source_.size() * n_values_);
        weight_.resize(source_.size());
        for (std::size_t i = 0; i < source_.size(); ++i) {
            const double* const sums = all_sums_.data() + source_[i] * n_values_;
            double* const law = law_.data() + i * n_values_;
            weight_[i] = statistics.empty() ? std::accumulate(sums, sums + n_values_, 0.0)
                                            : statistics[source_[i]].weight;
            for (std::size_t v = 0; v < n_values_; ++v)
                law[v] = weight_[i] > 0 ? sums[v] / weight_[i] : 0;
        }
    }

    // Sends the rows down until fewer than `least` are together, and writes where they end.
    void route(const GrownTree& grown, Part all, std::size_t least) {
        source_.assign(1, 0);
        parts_.assign(1, all);
        feature_.clear();
        child_offset_.assign(1, 0);
        for (std::uint32_t i = 0; i < source_.size(); ++i) {
            const GrownNode& node = grown.nodes.items[source_[i]];
            const Part part = parts_[i];
            if (node.kind == SplitKind::leaf || part.size() < least) end(part, i);
            else if (node.kind == SplitKind::multiway) divide_by_code(grown, i, part);
            else divide(node, part);
            feature_.push_back(node.feature);
            child_offset_.push_back(static_cast<std::int64_t>(source_.size() - 1));
        }
    }

    // The next child of the node whose turn it is.
    void add_child(std::uint32_t source, Part part) {
        source_.push_back(source);
        parts_.push_back(part);
    }

    void end(Part part, std::uint32_t node) {
        for (std::uint32_t i = part.begin; i < part.end; ++i) leaf_[ids_[i]] = node;
    }

    void divide(const GrownNode& node, Part part) {
        const Question<float> question{node.threshold, node.missing_child == 0};
        const float* const x = rows_.column(static_cast<std::size_t>(node.feature));
        std::uint32_t* const ids = ids_.data() + part.begin;
        for (std::uint32_t i = 0; i < part.size(); ++i) values_[i] = x[ids[i]];
        const std::uint32_t middle = part.begin + order_by_side(question, ids, part.size());
        add_child(node.first_child, {part.begin, middle});
        add_child(node.first_child + 1, {middle, part.end});
    }

    std::uint32_t order_by_side(const Question<float>& question, std::uint32_t* ids,
                                std::uint32_t n) {
        const float* const values = values_.data();
#ifdef LOCALMDI_AVX2
        const auto first = [&](std::uint32_t i) __attribute__((target("avx2"), always_inline)) {
            return forest::first8(question, _mm256_loadu_ps(values + i));
        };
        if (avx2_) return order_avx2(first, ids, n, spare_.data());
#endif
        return order([&](std::uint32_t i) { return goes_first(question, values[i]); }, ids, n,
                     spare_.data());
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
            add_child(node.first_child + c, {begin, i});
        }
        end({i, part.end}, at);
    }

    void predict(std::size_t tree, GrowChunk& chunk) {
        std::vector<double> sums(n_values_ + 1);
        for (const std::uint32_t row : halves_.held_out(tree)) {
            const auto at = static_cast<std::size_t>(leaf_[row]);
            sums[0] = weight_[at] > 0 ? 1 : 0;
            std::copy_n(law_.data() + at * n_values_, n_values_, sums.begin() + 1);
            chunk.add_out_of_bag(sums.data(), {&row, 1});
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

    // Per row: where it ended, and its weight if it is held out.
    std::vector<std::int64_t> leaf_;
    std::vector<double> held_;
    // The held-out rows, of which every node owns a part, and some node's values of a feature.
    std::vector<std::uint32_t> ids_, spare_;
    std::vector<float> values_;
    // Per node down to where rows stop: its number in the tree, its rows, its law and weight.
    std::vector<std::uint32_t> source_;
    std::vector<Part> parts_;
    std::vector<double> law_, weight_;
    std::vector<std::int64_t> tree_offset_ = {0, 0};
    std::vector<std::int32_t> feature_;
    std::vector<std::int64_t> child_offset_, child_;
    LargeVector<double> all_sums_;
    bool avx2_ = has_avx2();
};

}  // namespace localmdi::grow
