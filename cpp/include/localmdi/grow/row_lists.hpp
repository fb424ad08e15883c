// The training rows of a tree as one list, in which every node owns a part, and how splits divide
// it.
//
// A split only reorders its node's part, so a tree needs no memory per node, and the rows of a node
// lie side by side. Dividing is stable for the rows that count, which keeps classes together (see
// class_runs.hpp) and the order of summation fixed. Example: rows 0 … 5, of which 4 has weight 0:
//
//     root              counted [0 1 2 3 5]        passive [4]
//     x <= cut: 1, 3    counted [1 3 | 0 2 5]      passive of the child that 4 goes to
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/forest/routing.hpp"
#include "localmdi/grow/class_runs.hpp"
#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/row_loops.hpp"
#include "localmdi/grow/tree_random.hpp"

namespace localmdi::grow {

using forest::goes_first;
using forest::Question;
using support::has_avx2;

struct Part {
    std::uint32_t begin = 0, end = 0;
    std::uint32_t size() const { return end - begin; }
};

// The rows of a node: those that count in this tree, and those that only pass through (not drawn,
// or of weight 0), whose importances are wanted all the same.
struct NodeRows {
    Part counted, passive;
};

struct Split {
    SplitKind kind = SplitKind::leaf;
    std::int8_t missing_child = -1;
    std::uint32_t feature = 0;
    float threshold = 0;
};

struct Child {
    NodeRows rows;
    std::uint32_t code = 0;
};

// The values of a feature among the counted rows of a node.
struct ValueRange {
    float low, high;
    std::uint32_t n, n_missing;
    bool varies() const { return low < high || (n_missing > 0 && n_missing < n); }
};

class RowLists {
public:
    // The rows of every node keep the order given.
    RowLists(const TrainingRows& rows, std::size_t n_codes, std::vector<std::uint32_t> order)
        : rows_(rows),
          order_(std::move(order)),
          ids_(rows.n_rows + kListSlack),
          spare_(rows.n_rows + kListSlack),
          group_(rows.n_rows),
          values_(rows.n_rows + kListSlack),
          bits_(rows.n_rows / 64 + 2),
          group_of_code_(n_codes, kNone) {}

    // All rows, or those of positive weight only, which count.
    NodeRows reset(std::span<const double> weight, bool with_passive) {
        std::uint32_t counted = 0, passive = 0;
        for (const std::uint32_t row : order_) {
            if (weight[row] > 0) ids_[counted++] = row;
            else spare_[passive++] = row;
        }
        std::copy_n(spare_.begin(), passive, ids_.begin() + counted);
        if (!with_passive) passive = 0;
        return {{0, counted}, {counted, counted + passive}};
    }

    std::span<const std::uint32_t> ids(Part part) const {
        return {ids_.data() + part.begin, part.size()};
    }

    // Collects the values of a feature; the next groups() or divide() of the node works on them.
    ValueRange load(std::uint32_t feature, Part counted) {
        const float* const x = rows_.column(feature);
        const std::uint32_t n = counted.size();
        const std::uint32_t* const ids = ids_.data() + counted.begin;
        loaded_ = feature;
        if (rows_.missing[feature]) return load_with_missing(x, ids, n);
        const LowHigh range = collect_values(x, ids, n);
        return {range.low, range.high, n, 0};
    }

    // A random cut, uniform between the least and the largest value; or one child per category.
    Split random_split(std::uint32_t feature, const ValueRange& range, TreeRandom& random) const {
        if (rows_.categorical[feature]) return {SplitKind::multiway, -1, feature, 0};
        Split split{SplitKind::less_equal, -1, feature, range.low};
        if (range.low < range.high) {
            split.threshold = random.cut(range.low, range.high);
            if (rows_.missing[feature])
                split.missing_child = static_cast<std::int8_t>(random.below(2));
        } else {
            split.missing_child = 1;  // equal values: what is left to separate are the missing ones
        }
        return split;
    }

    // Numbers the children that the split would have, and writes each counted row's child.
    std::span<const std::uint32_t> groups(const Split& split, Part counted,
                                          std::uint32_t& n_groups) {
        if (loaded_ != split.feature) load(split.feature, counted);
        const std::uint32_t n = counted.size();
        if (split.kind == SplitKind::multiway) {
            number_codes(n);
            n_groups = static_cast<std::uint32_t>(codes_.size());
            for (std::uint32_t i = 0; i < n; ++i) group_[i] = group_of_code_[code(values_[i])];
            forget_codes();
        } else {
            const Question<float> question = question_of(split);
            n_groups = 2;
            for (std::uint32_t i = 0; i < n; ++i)
                group_[i] = goes_first(question, values_[i]) ? 0 : 1;
        }
        return {group_.data(), n};
    }

    // firsts[c] = how many of the sizes[c] rows of class c an ordered split would send first. The
    // rows must come class after class.
    void count_first(const Split& split, Part counted, std::span<const double> sizes,
                     double* firsts) {
        if (loaded_ != split.feature) load(split.feature, counted);
        const Question<float> question = question_of(split);
#ifdef LOCALMDI_AVX2
        if (avx2_) {
            mark_first_avx2(question, values_.data(), counted.size(), bits_.data());
            return count_ones_popcnt(bits_.data(), sizes, firsts);
        }
#endif
        mark_first(question, values_.data(), counted.size(), bits_.data());
        count_ones(bits_.data(), sizes, firsts);
    }

    // Orders the node's rows by child. Passive rows whose category no counted row has stay behind:
    // they are returned.
    Part divide(const Split& split, NodeRows rows, std::vector<Child>& children) {
        if (loaded_ != split.feature) load(split.feature, rows.counted);
        loaded_ = kNone;  // the order of the rows is about to change
        if (split.kind == SplitKind::multiway) return divide_by_code(split, rows, children);
        const Question<float> question = question_of(split);
        children.assign(2, Child());
        const std::uint32_t middle =
            rows.counted.begin + order_by_side(question, values_.data(),
                                               ids_.data() + rows.counted.begin,
                                               rows.counted.size(), spare_.data(), avx2_);
        children[0].rows.counted = {rows.counted.begin, middle};
        children[1].rows.counted = {middle, rows.counted.end};
        const float* const x = rows_.column(split.feature);
        const auto second =
            std::partition(ids_.begin() + rows.passive.begin, ids_.begin() + rows.passive.end,
                           [&](std::uint32_t row) { return goes_first(question, x[row]); });
        const auto passive_middle = static_cast<std::uint32_t>(second - ids_.begin());
        children[0].rows.passive = {rows.passive.begin, passive_middle};
        children[1].rows.passive = {passive_middle, rows.passive.end};
        return {};
    }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    static std::uint32_t code(float value) { return static_cast<std::uint32_t>(value); }

    static Question<float> question_of(const Split& split) {
        return {split.threshold, split.missing_child == 0};
    }

    LowHigh collect_values(const float* x, const std::uint32_t* ids, std::uint32_t n) {
#ifdef LOCALMDI_AVX2
        if (avx2_) return collect_avx2(Entries{x, 1}, ids, n, values_.data());
#endif
        return collect(Entries{x, 1}, ids, n, values_.data());
    }

    ValueRange load_with_missing(const float* x, const std::uint32_t* ids, std::uint32_t n) {
        ValueRange range{std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity(), n, 0};
        for (std::uint32_t i = 0; i < n; ++i) {
            const float v = values_[i] = x[ids[i]];
            range.n_missing += v != v;
            if (v < range.low) range.low = v;
            if (v > range.high) range.high = v;
        }
        return range;
    }

    // Fills codes_ with the categories among the first n values, ascending, and group_of_code_.
    void number_codes(std::uint32_t n) {
        codes_.clear();
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t c = code(values_[i]);
            if (group_of_code_[c] == kNone) codes_.push_back(c);
            group_of_code_[c] = 0;
        }
        std::sort(codes_.begin(), codes_.end());
        for (std::uint32_t g = 0; g < codes_.size(); ++g) group_of_code_[codes_[g]] = g;
    }

    void forget_codes() {
        for (const std::uint32_t c : codes_) group_of_code_[c] = kNone;
    }

    Part divide_by_code(const Split& split, NodeRows rows, std::vector<Child>& children) {
        number_codes(rows.counted.size());
        const auto n = static_cast<std::uint32_t>(codes_.size());
        children.assign(n, Child());
        for (std::uint32_t g = 0; g < n; ++g) children[g].code = codes_[g];
        const float* const x = rows_.column(split.feature);
        order_by_group(x, rows.counted, n);
        for (std::uint32_t g = 0; g < n; ++g)
            children[g].rows.counted = {bounds_[g], bounds_[g + 1]};
        order_by_group(x, rows.passive, n);
        for (std::uint32_t g = 0; g < n; ++g)
            children[g].rows.passive = {bounds_[g], bounds_[g + 1]};
        forget_codes();
        return {bounds_[n], rows.passive.end};
    }

    // Counting sort of a part by group, rows without a group last; bounds_[g] is where group g
    // begins.
    void order_by_group(const float* x, Part part, std::uint32_t n_groups) {
        const auto group = [&](std::uint32_t row) {
            return std::min(group_of_code_[code(x[row])], n_groups);
        };
        bounds_.assign(n_groups + 2, 0);
        for (std::uint32_t i = part.begin; i < part.end; ++i) ++bounds_[group(ids_[i]) + 1];
        std::partial_sum(bounds_.begin(), bounds_.end(), bounds_.begin());
        next_.assign(bounds_.begin(), bounds_.end());
        for (std::uint32_t i = part.begin; i < part.end; ++i)
            spare_[next_[group(ids_[i])]++] = ids_[i];
        std::copy_n(spare_.begin(), part.size(), ids_.begin() + part.begin);
        for (auto& bound : bounds_) bound += part.begin;
    }

    const TrainingRows& rows_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> ids_, spare_, group_;
    std::vector<float> values_;
    std::vector<std::uint64_t> bits_;
    std::uint32_t loaded_ = kNone;
    bool avx2_ = has_avx2();
    std::vector<std::uint32_t> group_of_code_, codes_, bounds_, next_;
};

}  // namespace localmdi::grow
