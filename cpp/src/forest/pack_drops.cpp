// A tree's records are read once each, in the order of its paths, which is the order in which
// scikit-learn stores most trees: memory is read from one end to the other. A node is written
// when it is visited; until then its parent's impurity waits for it on the stack.
#include "localmdi/forest/pack_drops.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "localmdi/forest/inclusive_threshold.hpp"
#include "localmdi/forest/node_rules.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::forest {
namespace {

constexpr std::int64_t kNoChild = -1;
constexpr std::size_t kAhead = 16;  // records asked for before they are read

class TreePacker {
public:
    TreePacker(PackedForest<float>& out, std::int64_t n_features)
        : out_(out), n_features_(n_features) {}

    // False: the tree breaks a rule. Nothing outside its place is written.
    bool pack(const BinaryTree& tree, std::size_t number, double weight) {
        PackedTree& begin = out_.trees[number];
        const PackedTree& end = out_.trees[number + 1];
        PackedSplit<float> above;  // where the root's place is written
        claims_.reset(tree.n_nodes);
        stack_.clear();
        LeafWriter leaves{out_.left.data() + begin.leaf};
        std::uint32_t n_splits = begin.split, n_leaves = begin.leaf;
        Pending next{0, tree.impurity[0], &above, 0, 0};
        for (;;) {
            LOCALMDI_PREFETCH(
                tree.impurity.place(std::min(next.record + kAhead, tree.n_nodes - 1)));
            const double impurity = tree.impurity[next.record];
            if (!claims_.claim(next.record) || !is_impurity(impurity) ||
                !is_weight(tree.weight[next.record]))
                return false;
            next.parent->credit[next.side] = weight * (next.parent_impurity - impurity);
            if (tree.left[next.record] != kNoChild || tree.right[next.record] != kNoChild) {
                if (n_splits == end.split) return false;
                next.parent->child[next.side] = static_cast<Place>(n_splits);
                PackedSplit<float>& split = out_.splits[n_splits++];
                if (!pack_split(tree, next.record, split)) return false;
                const auto first = static_cast<std::size_t>(tree.left[next.record]);
                const auto second = static_cast<std::size_t>(tree.right[next.record]);
                stack_.push_back({second, impurity, &split, 1, next.depth + 1});
                next = {first, impurity, &split, 0, next.depth + 1};
                continue;
            }
            if (n_leaves == end.leaf) return false;
            next.parent->child[next.side] = place_of_leaf(n_leaves++);
            leaves.add(weight * impurity);
            max_depth_ = std::max(max_depth_, next.depth);
            if (stack_.empty()) break;
            next = stack_.back();
            stack_.pop_back();
        }
        begin.root = above.child[0];
        something_left_ = leaves.something_left;
        return n_splits == end.split && n_leaves == end.leaf;
    }

    std::uint32_t max_depth() const { return max_depth_; }
    // Whether the last tree has written what is left at its leaves.
    bool something_left() const { return something_left_; }

private:
    struct Pending {
        std::size_t record;
        double parent_impurity;
        PackedSplit<float>* parent;
        std::uint32_t side, depth;
    };

    // Writes nothing, and so touches no memory, before something is left at a leaf: often nothing
    // is at any.
    struct LeafWriter {
        double* first;
        std::size_t n = 0;
        bool something_left = false;

        void add(double left) {
            if (left != 0 && !std::exchange(something_left, true)) std::fill_n(first, n, 0.0);
            if (something_left) first[n] = left;
            ++n;
        }
    };

    bool pack_split(const BinaryTree& tree, std::size_t at, PackedSplit<float>& split) const {
        const auto first = static_cast<std::size_t>(tree.left[at]);
        const auto second = static_cast<std::size_t>(tree.right[at]);
        const std::int64_t feature = column_of(tree, at);
        const double threshold = tree.threshold[at];
        if (!is_child_place(at, first, tree.n_nodes) || !is_child_place(at, second, tree.n_nodes) ||
            !is_split_feature(feature, n_features_) || !is_ordered_threshold(threshold))
            return false;
        split.threshold = inclusive_threshold<float>(threshold, false);
        split.split = static_cast<std::uint32_t>(feature) | missing_flag(tree, at);
        return true;
    }

    static std::int64_t column_of(const BinaryTree& tree, std::size_t at) {
        const std::int64_t feature = tree.feature[at];
        if (tree.column.empty()) return feature;
        const auto n_columns = static_cast<std::int64_t>(tree.column.size());
        return is_split_feature(feature, n_columns) ? tree.column[static_cast<std::size_t>(feature)]
                                                    : -1;
    }

    static std::uint32_t missing_flag(const BinaryTree& tree, std::size_t at) {
        // Without a branch: most trees send as many splits' missing values left as right.
        return tree.missing_goes_left.data == nullptr
                   ? 0
                   : std::uint32_t{tree.missing_goes_left[at] != 0} * kMissingFirst;
    }

    PackedForest<float>& out_;
    std::int64_t n_features_;
    ParentClaims claims_;
    std::vector<Pending> stack_;
    std::uint32_t max_depth_ = 0;
    bool something_left_ = false;
};

// Trees that have written nothing about their leaves have nothing left at any.
void finish_left(PackedForest<float>& out, std::span<const unsigned char> has_left) {
    if (std::ranges::none_of(has_left, [](unsigned char has) { return has != 0; })) {
        out.left = {};
        return;
    }
    for (std::size_t t = 0; t < has_left.size(); ++t)
        if (!has_left[t])
            std::fill(out.left.begin() + out.trees[t].leaf,
                      out.left.begin() + out.trees[t + 1].leaf, 0.0);
}

}  // namespace

std::optional<PackedForest<float>> pack_drops(const TreeRecords& records, std::size_t n_threads,
                                              support::Interrupt& interrupt) {
    const auto& [trees, tree_weight, n_features] = records;
    if (n_features < 1 || n_features > static_cast<std::int64_t>(kFeatureMask) || trees.empty())
        return std::nullopt;
    PackedForest<float> out;
    std::size_t n_splits = 0, n_leaves = 0;
    const auto begin_tree = [&] {
        out.trees.push_back(
            {0, static_cast<std::uint32_t>(n_splits), static_cast<std::uint32_t>(n_leaves)});
    };
    for (const BinaryTree& tree : trees) {
        if (tree.n_nodes % 2 == 0) return std::nullopt;
        begin_tree();
        n_splits += tree.n_nodes / 2;
        n_leaves += tree.n_nodes / 2 + 1;
        if (n_leaves > kMostPlaces) return std::nullopt;
    }
    begin_tree();  // the end
    out.n_features = static_cast<std::size_t>(n_features);
    out.tree_weight.assign(tree_weight.begin(), tree_weight.end());
    out.splits.resize(n_splits);
    out.left.resize(n_leaves);

    std::atomic<bool> is_sound{true};
    std::vector<std::uint32_t> depth(trees.size());
    std::vector<unsigned char> has_left(trees.size());
    support::parallel_for(trees.size(), n_threads, interrupt, [&] {
        return [&, packer = TreePacker(out, records.n_features)](std::size_t t) mutable {
            if (!is_sound.load(std::memory_order_relaxed)) return;
            if (!packer.pack(records.trees[t], t, records.tree_weight[t])) is_sound.store(false);
            depth[t] = packer.max_depth();
            has_left[t] = packer.something_left();
        };
    });
    if (!is_sound) return std::nullopt;
    out.max_depth = *std::max_element(depth.begin(), depth.end());
    finish_left(out, has_left);
    return out;
}

}  // namespace localmdi::forest
