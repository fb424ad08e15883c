// Packing: a depth-first walk over the node table with a stack of its own, because a tree may be
// deeper than the thread's stack.
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
        const std::size_t n = forest_.n_nodes();
        if (n >= (std::size_t{1} << 32) - 1)
            throw std::length_error("a forest can have at most 2**32 - 2 nodes");
        if (forest_.n_features > static_cast<std::int64_t>(kFeatureMask))
            throw std::length_error("a forest can have at most 2**29 - 1 features");
        out_.n_features = static_cast<std::size_t>(forest_.n_features);
        out_.tree_weight.assign(tree_weight.begin(), tree_weight.end());
        out_.nodes.resize(n);
        out_.source.resize(n);
        out_.root.reserve(forest_.n_trees() + 1);
        reserve_unordered();
        for (std::size_t t = 0; t < forest_.n_trees(); ++t) pack_tree(t);
        out_.root.push_back(used_);
        if (!credits_.amount.empty()) out_.symmetric = symmetric_form(out_);
        return std::move(out_);
    }

private:
    struct Pending {
        std::size_t node;
        std::uint32_t at;
        std::uint32_t depth;
    };

    // All at once: splits refer to these vectors, which must not move.
    void reserve_unordered() {
        std::size_t n_splits = 0, n_tables = 0;
        for (std::size_t node = 0; node < forest_.n_nodes(); ++node) {
            const SplitKind kind = forest_.kind(node);
            const bool multiway = kind == SplitKind::multiway;
            n_splits += multiway || kind == SplitKind::category_set;
            if (multiway) n_tables += table_size(forest_.categories(node));
        }
        out_.unordered.reserve(n_splits);
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
        const auto root = static_cast<std::size_t>(forest_.tree_offset[tree]);
        weight_ = out_.tree_weight[tree];
        out_.root.push_back(used_);
        out_.nodes[used_].credit = 0;
        Pending next{root, used_++, 0};
        for (;;) {
            out_.source[next.at] = static_cast<std::uint32_t>(next.node);
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
        auto& node = out_.nodes[leaf.at];
        node.split = kLeaf;
        node.child = 0;
        node.set_remainder(weighted(credits_.remainder, leaf.node));
    }

    Pending pack_split(const Pending& parent) {
        const std::size_t n_children = forest_.n_children(parent.node);
        const std::uint32_t first = used_;
        used_ += static_cast<std::uint32_t>(n_children);
        auto& node = out_.nodes[parent.at];
        node.split = static_cast<std::uint32_t>(forest_.feature[parent.node]);
        const SplitKind kind = forest_.kind(parent.node);
        if (kind == SplitKind::less_equal || kind == SplitKind::less) {
            node.threshold =
                inclusive_threshold<Value>(forest_.threshold[parent.node], kind == SplitKind::less);
            if (forest_.missing_child[parent.node] == 0) node.split |= kMissingFirst;
            node.child = first;
        } else {
            const auto categories = keep_categories(forest_.categories(parent.node));
            node.threshold = 0;
            node.split |= kUnordered;
            node.child = static_cast<std::uint32_t>(out_.unordered.size());
            out_.unordered.push_back({kind, first, static_cast<std::uint32_t>(n_children),
                                      forest_.missing_child[parent.node],
                                      weighted(credits_.remainder, parent.node), categories,
                                      kind == SplitKind::multiway
                                          ? keep_table(categories)
                                          : std::span<const std::uint8_t>()});
        }
        const auto child = [&](std::size_t k) {
            const Pending next{forest_.child_of(parent.node, k),
                               first + static_cast<std::uint32_t>(k), parent.depth + 1};
            out_.nodes[next.at].credit = weighted(credits_.amount, next.node);
            return next;
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
    std::uint32_t used_ = 0;
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
