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

    const PackedNode<Value>& node(std::uint32_t at) const { return forest_.nodes[at]; }

    // Whether all rows go the same way at both, in a tree where levels have two children per node.
    bool same_question(const PackedNode<Value>& a, const PackedNode<Value>& b) const {
        if (a.split != b.split) return false;
        if (!(a.split & kUnordered)) {
            using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
            const Value one = a.threshold, other = b.threshold;  // packed: no references to them
            return std::bit_cast<Bits>(one) == std::bit_cast<Bits>(other);
        }
        const UnorderedSplit& first = forest_.unordered[a.child];
        const UnorderedSplit& second = forest_.unordered[b.child];
        return first.kind == SplitKind::category_set && second.kind == first.kind &&
               first.missing_child == second.missing_child &&
               std::ranges::equal(first.categories, second.categories);
    }

    std::uint32_t first_child(std::uint32_t at) const {
        const PackedNode<Value>& split = node(at);
        return split.split & kUnordered ? forest_.unordered[split.child].first_child : split.child;
    }

    // The nodes of every level of a tree, in the order of their answers; false if it is not
    // symmetric.
    bool find_levels(std::size_t tree) {
        levels_.assign(1, {forest_.root[tree]});
        for (;;) {
            const std::vector<std::uint32_t>& level = levels_.back();
            const PackedNode<Value>& question = node(level.front());
            const bool leaves = question.split & kLeaf;
            for (const std::uint32_t at : level)
                if (leaves ? !(node(at).split & kLeaf) : !same_question(question, node(at)))
                    return false;
            if (leaves) return true;
            if (levels_.size() > kMaxSymmetricDepth) return false;
            std::vector<std::uint32_t> below;
            below.reserve(2 * level.size());
            for (const std::uint32_t at : level)
                for (const std::uint32_t k : {0u, 1u}) below.push_back(first_child(at) + k);
            levels_.push_back(std::move(below));
        }
    }

    void find_features() {
        std::vector<bool> used(forest_.n_features);
        for (const PackedNode<Value>& each : forest_.nodes)
            if (!(each.split & kLeaf)) used[each.split & kFeatureMask] = true;
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
            const PackedNode<Value>& question = node(levels_[level].front());
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
        for (const std::uint32_t leaf : levels_.back()) left.sums.push_back(node(leaf).remainder());
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
        const std::vector<std::uint32_t>& below = levels_[n_levels];
        std::vector<double> sums(below.size());
        for (std::size_t answers = 0; answers < below.size(); ++answers) {
            const double before =
                column.sums.empty() ? 0.0 : column.sums[answers >> (n_levels - column.n_levels)];
            sums[answers] = before + node(below[answers]).credit;
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
    std::vector<std::vector<std::uint32_t>> levels_;
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
