// Packing: a depth-first walk over the node table with a stack of its own, because a tree may be
// deeper than the thread's stack.
#include <algorithm>
#include <stdexcept>

#include "localmdi/forest/packed_forest.hpp"

#include "localmdi/forest/inclusive_threshold.hpp"

namespace localmdi::forest {
namespace {

// The length of a multiway split's UnorderedSplit::child_at.
std::size_t table_size(std::span<const std::uint64_t> categories) {
    constexpr std::uint64_t kLargest = 255;
    if (categories.size() > UnorderedSplit::kNoChild || categories.back() > kLargest) return 0;
    return categories.back() + 1;
}

template <class Value>
class Packer {
public:
    Packer(const ForestView& forest, const Credits& credits) : forest_(forest), credits_(credits) {}

    PackedForest<Value> run(std::span<const double> tree_weight) {
        const auto n_leaves = static_cast<std::size_t>(
            std::ranges::count(forest_.split_kind, static_cast<std::uint8_t>(SplitKind::leaf)));
        const std::size_t n_splits = forest_.n_nodes() - n_leaves;
        if (std::max(n_splits, n_leaves) > kMostPlaces)
            throw std::length_error("a forest can have at most 2**31 - 1 splits or leaves");
        if (forest_.n_features > static_cast<std::int64_t>(kFeatureMask))
            throw std::length_error("a forest can have at most 2**29 - 1 features");
        out_.n_features = static_cast<std::size_t>(forest_.n_features);
        out_.tree_weight.assign(tree_weight.begin(), tree_weight.end());
        out_.splits.resize(n_splits);
        out_.source.split.resize(n_splits);
        out_.source.leaf.resize(n_leaves);
        if (!credits_.remainder.empty()) out_.left.resize(n_leaves);
        out_.trees.resize(forest_.n_trees() + 1);
        reserve_unordered();
        for (std::size_t t = 0; t < forest_.n_trees(); ++t) pack_tree(t);
        out_.trees.back() = {0, n_splits_, n_leaves_};
        if (std::ranges::all_of(out_.left, [](double left) { return left == 0; })) out_.left = {};
        if (!credits_.amount.empty()) out_.symmetric = symmetric_form(out_);
        return std::move(out_);
    }

private:
    // A node to be packed, and where its parent waits for its place.
    struct Pending {
        std::size_t node;
        Place* place;
        std::uint32_t depth;
    };

    // All at once: splits refer to these vectors, which must not move.
    void reserve_unordered() {
        std::size_t n_splits = 0, n_tables = 0, n_edges = 0;
        for (std::size_t node = 0; node < forest_.n_nodes(); ++node) {
            const SplitKind kind = forest_.kind(node);
            const bool multiway = kind == SplitKind::multiway;
            n_splits += multiway || kind == SplitKind::category_set;
            if (!multiway) continue;
            n_tables += table_size(forest_.categories(node));
            n_edges += forest_.n_children(node);
        }
        out_.unordered.reserve(n_splits);
        out_.edges.reserve(n_edges);
        out_.categories.reserve(forest_.category_bits.size());
        out_.child_at.reserve(n_tables);
    }

    std::span<const std::uint64_t> keep_categories(std::span<const std::uint64_t> categories) {
        const std::size_t begin = out_.categories.size();
        out_.categories.insert(out_.categories.end(), categories.begin(), categories.end());
        return {out_.categories.data() + begin, categories.size()};
    }

    std::span<const std::uint8_t> keep_table(std::span<const std::uint64_t> categories) {
        const std::size_t begin = out_.child_at.size(), size = table_size(categories);
        if (size == 0) return {};
        out_.child_at.insert(out_.child_at.end(), size, UnorderedSplit::kNoChild);
        std::uint8_t* const table = out_.child_at.data() + begin;
        for (std::size_t k = 0; k < categories.size(); ++k)
            table[categories[k]] = static_cast<std::uint8_t>(k);
        return {table, size};
    }

    void pack_tree(std::size_t tree) {
        weight_ = out_.tree_weight[tree];
        out_.trees[tree] = {0, n_splits_, n_leaves_};
        Pending next{static_cast<std::size_t>(forest_.tree_offset[tree]), &out_.trees[tree].root,
                     0};
        for (;;) {
            if (forest_.kind(next.node) != SplitKind::leaf) {
                next = pack_split(next);
                continue;
            }
            pack_leaf(next);
            if (next.depth > out_.max_depth) out_.max_depth = next.depth;
            if (stack_.empty()) return;
            next = stack_.back();
            stack_.pop_back();
        }
    }

    // The tree's weight enters here, so that kernels only add.
    double weighted(std::span<const double> column, std::size_t node) const {
        return column.empty() ? 0.0 : weight_ * column[node];
    }

    void pack_leaf(const Pending& leaf) {
        *leaf.place = place_of_leaf(n_leaves_);
        out_.source.leaf[n_leaves_] = static_cast<std::uint32_t>(leaf.node);
        if (!out_.left.empty()) out_.left[n_leaves_] = weighted(credits_.remainder, leaf.node);
        ++n_leaves_;
    }

    Pending pack_split(const Pending& parent) {
        *parent.place = static_cast<Place>(n_splits_);
        out_.source.split[n_splits_] = static_cast<std::uint32_t>(parent.node);
        PackedSplit<Value>& split = out_.splits[n_splits_++];
        split.split = static_cast<std::uint32_t>(forest_.feature[parent.node]);
        const SplitKind kind = forest_.kind(parent.node);
        if (kind == SplitKind::multiway) return pack_multiway(parent, split);
        if (kind == SplitKind::category_set) {
            pack_unordered(parent.node, split, {}, {});
        } else {
            split.threshold =
                inclusive_threshold<Value>(forest_.threshold[parent.node], kind == SplitKind::less);
            if (forest_.missing_child[parent.node] == 0) split.split |= kMissingFirst;
        }
        const auto child = [&](std::size_t k) {
            const std::size_t node = forest_.child_of(parent.node, k);
            split.credit[k] = weighted(credits_.amount, node);
            return Pending{node, &split.child[k], parent.depth + 1};
        };
        stack_.push_back(child(1));
        return child(0);
    }

    void pack_unordered(std::size_t node, PackedSplit<Value>& split, std::span<const Edge> edges,
                        std::span<const std::uint8_t> child_at) {
        split.split |= kUnordered;
        split.set_unordered(static_cast<std::uint32_t>(out_.unordered.size()));
        out_.unordered.push_back({forest_.kind(node), forest_.missing_child[node],
                                  weighted(credits_.remainder, node), edges,
                                  keep_categories(forest_.categories(node)), child_at});
    }

    Pending pack_multiway(const Pending& parent, PackedSplit<Value>& split) {
        const std::size_t n_children = forest_.n_children(parent.node), begin = out_.edges.size();
        split.credit = {};
        split.child = {};
        for (std::size_t k = 0; k < n_children; ++k)
            out_.edges.push_back({weighted(credits_.amount, forest_.child_of(parent.node, k)), 0});
        Edge* const edges = out_.edges.data() + begin;
        pack_unordered(parent.node, split, {edges, n_children},
                       keep_table(forest_.categories(parent.node)));
        const auto child = [&](std::size_t k) {
            return Pending{forest_.child_of(parent.node, k), &edges[k].child, parent.depth + 1};
        };
        // The last child goes on the stack first, so that subtrees follow each other in order.
        for (std::size_t k = n_children; k-- > 1;) stack_.push_back(child(k));
        return child(0);
    }

    const ForestView& forest_;
    const Credits& credits_;
    PackedForest<Value> out_;
    std::vector<Pending> stack_;
    double weight_ = 1;
    std::uint32_t n_splits_ = 0, n_leaves_ = 0;  // packed so far
};

}  // namespace

template <class Value>
PackedForest<Value> pack(const ForestView& forest, const Credits& credits,
                         std::span<const double> tree_weight) {
    return Packer<Value>(forest, credits).run(tree_weight);
}

template PackedForest<float> pack(const ForestView&, const Credits&, std::span<const double>);
template PackedForest<double> pack(const ForestView&, const Credits&, std::span<const double>);

}  // namespace localmdi::forest
