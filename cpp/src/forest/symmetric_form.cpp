#include "localmdi/forest/symmetric_form.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <type_traits>

#include "localmdi/forest/packed_forest.hpp"

namespace localmdi::forest {
namespace {

template <class Value>
class FormBuilder {
public:
    explicit FormBuilder(const PackedForest<Value>& forest) : forest_(forest) {}

    SymmetricForm<Value> run() {
        for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree)
            if (!find_levels(tree)) return {};
        find_features();
        for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
            find_levels(tree);
            add_tree();
        }
        mark_tree();
        return std::move(out_);
    }

private:
    // A feature, or what is left, and its sums, complete after n_levels.
    struct Column {
        std::uint32_t n_levels;
        std::uint32_t column;
        std::vector<double> sums;
    };

    const PackedSplit<Value>& split(Place at) const {
        return forest_.splits[static_cast<std::size_t>(at)];
    }

    // Whether all rows go the same way at both, in a tree where levels have two children per node.
    bool same_question(const PackedSplit<Value>& a, const PackedSplit<Value>& b) const {
        if (a.split != b.split) return false;
        if (!(a.split & kUnordered)) {
            using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
            return std::bit_cast<Bits>(a.threshold) == std::bit_cast<Bits>(b.threshold);
        }
        const UnorderedSplit& first = forest_.unordered[a.unordered()];
        const UnorderedSplit& second = forest_.unordered[b.unordered()];
        return first.kind == SplitKind::category_set && second.kind == first.kind &&
               first.missing_child == second.missing_child &&
               std::ranges::equal(first.categories, second.categories);
    }

    // The places of every level of a tree, in the order of their answers; false if it is not
    // symmetric.
    bool find_levels(std::size_t tree) {
        levels_.assign(1, {forest_.trees[tree].root});
        for (;;) {
            const std::vector<Place>& level = levels_.back();
            const bool leaves = is_leaf(level.front());
            for (const Place at : level)
                if (is_leaf(at) != leaves ||
                    (!leaves && !same_question(split(level.front()), split(at))))
                    return false;
            if (leaves) return true;
            if (levels_.size() > kMaxSymmetricDepth) return false;
            std::vector<Place> below;
            below.reserve(2 * level.size());
            for (const Place at : level)
                for (const Place child : split(at).child) below.push_back(child);
            levels_.push_back(std::move(below));
        }
    }

    void find_features() {
        std::vector<bool> used(forest_.n_features);
        for (const PackedSplit<Value>& each : forest_.splits)
            used[each.split & kFeatureMask] = true;
        for (std::size_t f = 0; f < used.size(); ++f)
            if (used[f]) out_.features.push_back(static_cast<std::uint32_t>(f));
    }

    void mark_tree() {
        out_.trees.push_back({out_.levels.size(), out_.groups.size(), out_.sums.size()});
    }

    void add_tree() {
        mark_tree();
        const auto depth = static_cast<std::uint32_t>(levels_.size() - 1);
        std::map<std::uint32_t, Column> by_feature;
        for (std::uint32_t level = 0; level < depth; ++level) {
            const PackedSplit<Value>& question = split(levels_[level].front());
            out_.levels.push_back(question);
            add_credits(by_feature[question.split & kFeatureMask], level + 1);
        }
        std::vector<Column> columns;
        for (auto& [feature, column] : by_feature) {
            const auto place = std::ranges::lower_bound(out_.features, feature);
            column.column = static_cast<std::uint32_t>(place - out_.features.begin());
            columns.push_back(std::move(column));
        }
        std::ranges::sort(columns, {}, &Column::n_levels);
        Column left{depth, static_cast<std::uint32_t>(out_.features.size()), {}};
        for (const Place leaf : levels_.back()) left.sums.push_back(forest_.remainder(leaf));
        columns.push_back(std::move(left));
        // The groups that need all levels have the largest tables: they are full, the first may
        // not.
        std::size_t first = 0;
        for (std::size_t last = (columns.size() - 1) % kGroupColumns + 1; last <= columns.size();
             first = last, last += kGroupColumns)
            add_group({columns.data() + first, last - first});
    }

    // Adds what the edges into a level are worth to the sums of the feature that was asked for.
    void add_credits(Column& column, std::uint32_t n_levels) const {
        const std::vector<Place>& above = levels_[n_levels - 1];
        std::vector<double> sums(2 * above.size());
        for (std::size_t answers = 0; answers < sums.size(); ++answers) {
            const double before =
                column.sums.empty() ? 0.0 : column.sums[answers >> (n_levels - column.n_levels)];
            sums[answers] = before + split(above[answers / 2]).credit[answers % 2];
        }
        column.sums = std::move(sums);
        column.n_levels = n_levels;
    }

    void add_group(std::span<const Column> columns) {
        ColumnGroup group{columns.back().n_levels,
                          static_cast<std::uint32_t>(columns.size()),
                          {},
                          out_.sums.size()};
        for (std::size_t k = 0; k < columns.size(); ++k) group.column[k] = columns[k].column;
        for (std::size_t answers = 0; answers < std::size_t{1} << group.n_levels; ++answers)
            for (std::size_t k = 0; k < kGroupColumns; ++k)
                out_.sums.push_back(
                    k < columns.size()
                        ? columns[k].sums[answers >> (group.n_levels - columns[k].n_levels)]
                        : 0.0);
        out_.groups.push_back(group);
    }

    const PackedForest<Value>& forest_;
    std::vector<std::vector<Place>> levels_;
    SymmetricForm<Value> out_;
};

}  // namespace

template <class Value>
SymmetricForm<Value> symmetric_form(const PackedForest<Value>& forest) {
    return FormBuilder<Value>(forest).run();
}

template SymmetricForm<float> symmetric_form(const PackedForest<float>&);
template SymmetricForm<double> symmetric_form(const PackedForest<double>&);

}  // namespace localmdi::forest
