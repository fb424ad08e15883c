#include "localmdi/grown_trees.hpp"

#include <algorithm>
#include <utility>

namespace localmdi {

namespace {

class Exporter {
public:
    explicit Exporter(const GrownTrees& trees) : n_values_(trees.n_values), trees_(trees.trees) {}

    ForestArrays run() {
        std::size_t n = 0;
        for (const GrownTree& tree : trees_) n += tree.nodes.size();
        reserve(n);
        for (const GrownTree& tree : trees_) copy_tree(tree);
        return std::move(out_);
    }

private:
    void reserve(std::size_t n) {
        out_.feature.resize(n);
        out_.split_kind.resize(n);
        out_.threshold.resize(n);
        out_.missing_child.resize(n);
        out_.weight.resize(n);
        out_.impurity.resize(n);
        out_.value.resize(n * n_values_);
        out_.child_offset.reserve(n + 1);
        out_.category_offset.reserve(n + 1);
        out_.child.reserve(n);
        out_.tree_offset.push_back(0);
        out_.child_offset.push_back(0);
        out_.category_offset.push_back(0);
    }

    void copy_tree(const GrownTree& tree) {
        const auto root = static_cast<std::size_t>(out_.tree_offset.back());
        const std::size_t n = tree.nodes.size();
        for (std::size_t i = 0; i < n; ++i) copy_node(tree, i, root);
        // Children lie after their parents: backwards, they are complete before they are needed.
        for (std::size_t i = n; i-- > 0;) set_value(tree, i, root);
        out_.tree_offset.push_back(static_cast<std::int64_t>(root + n));
    }

    static std::size_t n_children(const GrownTree& tree, const GrownNode& node) {
        if (node.kind == SplitKind::multiway) return tree.codes[node.codes];
        return node.kind == SplitKind::leaf ? 0 : 2;
    }

    void copy_node(const GrownTree& tree, std::size_t i, std::size_t root) {
        const GrownNode& node = tree.nodes[i];
        const bool multiway = node.kind == SplitKind::multiway;
        const std::size_t at = root + i;
        out_.feature[at] = node.feature;
        out_.split_kind[at] = static_cast<std::uint8_t>(node.kind);
        out_.threshold[at] = multiway ? 0 : node.threshold;
        out_.missing_child[at] = node.missing_child;
        out_.weight[at] = node.weight;
        out_.impurity[at] = node.impurity;
        for (std::size_t k = 0; k < n_children(tree, node); ++k) {
            out_.child.push_back(static_cast<std::int64_t>(root + node.first_child + k));
            if (multiway) out_.category_bits.push_back(tree.codes[node.codes + 1 + k]);
        }
        out_.child_offset.push_back(static_cast<std::int64_t>(out_.child.size()));
        out_.category_offset.push_back(static_cast<std::int64_t>(out_.category_bits.size()));
    }

    void set_value(const GrownTree& tree, std::size_t i, std::size_t root) {
        const GrownNode& node = tree.nodes[i];
        const std::size_t k = n_values_;
        double* const value = out_.value.data() + (root + i) * k;
        std::fill_n(value, k, 0.0);
        if (node.kind != SplitKind::leaf) {
            for (std::size_t c = 0; c < n_children(tree, node); ++c) {
                const std::size_t child = node.first_child + c;
                const double share = tree.nodes[child].weight / node.weight;
                const double* const below = out_.value.data() + (root + child) * k;
                for (std::size_t v = 0; v < k; ++v) value[v] += share * below[v];
            }
        } else if (node.first_child & kDense) {
            const double* const sums = tree.values.data() + (node.first_child ^ kDense) * k;
            if (node.weight > 0)
                for (std::size_t v = 0; v < k; ++v) value[v] = sums[v] / node.weight;
        } else {
            value[node.first_child] = 1;
        }
    }

    std::size_t n_values_;
    const std::vector<GrownTree>& trees_;
    ForestArrays out_;
};

}  // namespace

ForestArrays to_arrays(const GrownTrees& trees) { return Exporter(trees).run(); }

}  // namespace localmdi
