// A tree's records are read once each, in the order of its paths, which is the order in which
// scikit-learn stores most trees: memory is read from one end to the other. A node is written
// when it is visited; until then its parent's impurity waits for it on the stack.
#include "localmdi/forest/pack_drops.hpp"

#include <algorithm>
#include <atomic>
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
    bool pack(const BinaryTree& tree, std::uint32_t root, double weight) {
        claims_.reset(tree.n_nodes);
        stack_.clear();
        const auto tree_end = root + static_cast<std::uint32_t>(tree.n_nodes);
        std::uint32_t used = root + 1;
        std::size_t n_visited = 0;
        Pending next{0, tree.impurity[0], root, 0};
        for (;; ++n_visited) {
            LOCALMDI_PREFETCH(
                tree.impurity.place(std::min(next.record + kAhead, tree.n_nodes - 1)));
            const double impurity = tree.impurity[next.record];
            if (!claims_.claim(next.record) || !is_impurity(impurity) ||
                !is_weight(tree.weight[next.record]))
                return false;
            PackedNode<float>& node = out_.nodes[next.at];
            node.credit = weight * (next.parent_impurity - impurity);
            if (tree.left[next.record] != kNoChild || tree.right[next.record] != kNoChild) {
                if (tree_end - used < 2 || !pack_split(tree, next.record, node)) return false;
                node.child = used;
                const auto first = static_cast<std::size_t>(tree.left[next.record]);
                const auto second = static_cast<std::size_t>(tree.right[next.record]);
                stack_.push_back({second, impurity, used + 1, next.depth + 1});
                next = {first, impurity, used, next.depth + 1};
                used += 2;
                continue;
            }
            node.split = kLeaf;
            node.set_remainder(weight * impurity);
            max_depth_ = std::max(max_depth_, next.depth);
            if (stack_.empty()) return n_visited + 1 == tree.n_nodes;
            next = stack_.back();
            stack_.pop_back();
        }
    }

    std::uint32_t max_depth() const { return max_depth_; }

private:
    struct Pending {
        std::size_t record;
        double parent_impurity;
        std::uint32_t at, depth;
    };

    bool pack_split(const BinaryTree& tree, std::size_t at, PackedNode<float>& node) const {
        const auto first = static_cast<std::size_t>(tree.left[at]);
        const auto second = static_cast<std::size_t>(tree.right[at]);
        const std::int64_t feature = column_of(tree, at);
        const double threshold = tree.threshold[at];
        if (!is_child_place(at, first, tree.n_nodes) || !is_child_place(at, second, tree.n_nodes) ||
            !is_split_feature(feature, n_features_) || !is_ordered_threshold(threshold))
            return false;
        node.threshold = inclusive_threshold<float>(threshold, false);
        node.split = static_cast<std::uint32_t>(feature) | missing_flag(tree, at);
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
};

}  // namespace

std::optional<PackedForest<float>> pack_drops(std::span<const BinaryTree> trees,
                                              std::int64_t n_features,
                                              std::span<const double> tree_weight,
                                              std::size_t n_threads,
                                              support::Interrupt& interrupt) {
    if (n_features < 1 || n_features > static_cast<std::int64_t>(kFeatureMask) || trees.empty())
        return std::nullopt;
    PackedForest<float> out;
    std::size_t n_nodes = 0;
    for (const BinaryTree& tree : trees) {
        if (tree.n_nodes % 2 == 0) return std::nullopt;
        out.root.push_back(static_cast<std::uint32_t>(n_nodes));
        n_nodes += tree.n_nodes;
        if (n_nodes >= (std::size_t{1} << 32) - 1) return std::nullopt;
    }
    out.n_features = static_cast<std::size_t>(n_features);
    out.tree_weight.assign(tree_weight.begin(), tree_weight.end());
    out.root.push_back(static_cast<std::uint32_t>(n_nodes));
    out.nodes.resize(n_nodes);

    std::atomic<bool> is_sound{true};
    std::vector<std::uint32_t> depth(trees.size());
    support::parallel_for(trees.size(), n_threads, interrupt, [&] {
        return [&, packer = TreePacker(out, n_features)](std::size_t t) mutable {
            if (!is_sound.load(std::memory_order_relaxed)) return;
            if (!packer.pack(trees[t], out.root[t], tree_weight[t])) is_sound.store(false);
            depth[t] = packer.max_depth();
        };
    });
    if (!is_sound) return std::nullopt;
    out.max_depth = *std::max_element(depth.begin(), depth.end());
    return out;
}

}  // namespace localmdi::forest
