#include "localmdi/grow/grown_trees.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "localmdi/grow/node_sums.hpp"

namespace localmdi::grow {

std::size_t n_children(const GrownTree& tree, const GrownNode& node) {
    if (node.kind == SplitKind::multiway) return tree.codes[node.codes];
    return node.kind == SplitKind::leaf ? 0 : 2;
}

void sum_values(const GrownTree& tree, std::size_t n_values, double* out) {
    const auto statistics = tree.statistics.items;
    // Children lie after their parents: backwards, they are complete before they are needed.
    for (std::size_t i = tree.nodes.items.size(); i-- > 0;) {
        const GrownNode& node = tree.nodes.items[i];
        double* const sums = out + i * n_values;
        std::fill_n(sums, n_values, 0.0);
        if (node.kind != SplitKind::leaf) {
            for (std::size_t c = 0; c < n_children(tree, node); ++c) {
                const double* const below = out + (node.first_child + c) * n_values;
                for (std::size_t v = 0; v < n_values; ++v) sums[v] += below[v];
            }
        } else if (node.first_child & kDense) {
            const std::size_t place = node.first_child ^ kDense;
            std::copy_n(tree.values.data() + place * n_values, n_values, sums);
        } else {
            sums[node.first_child] = statistics.empty() ? node.n_rows : statistics[i].weight;
        }
    }
}

namespace {

class Exporter {
public:
    explicit Exporter(const GrownTrees& trees)
        : n_values_(trees.n_values),
          trees_(trees.trees),
          entropy_({Criterion::entropy, n_values_, {}, {}}, true, kLogTable),
          gini_({Criterion::gini, n_values_, {}, {}}, true, 0) {}

    ForestArrays run() {
        std::size_t n = 0;
        for (const GrownTree& tree : trees_) n += tree.nodes.items.size();
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
        const std::size_t n = tree.nodes.items.size();
        for (std::size_t i = 0; i < n; ++i) copy_node(tree, i, root);
        sum_values(tree, n_values_, value(root));
        if (!tree.statistics.items.empty()) copy_statistics(tree, root);
        else if (tree.criterion == Criterion::entropy) derive_statistics(entropy_, root, n);
        else derive_statistics(gini_, root, n);
        for (std::size_t at = root; at < root + n; ++at)
            if (out_.weight[at] > 0)
                for (std::size_t v = 0; v < n_values_; ++v) value(at)[v] /= out_.weight[at];
        out_.tree_offset.push_back(static_cast<std::int64_t>(root + n));
    }

    void copy_node(const GrownTree& tree, std::size_t i, std::size_t root) {
        const GrownNode& node = tree.nodes.items[i];
        const bool multiway = node.kind == SplitKind::multiway;
        const std::size_t at = root + i;
        out_.feature[at] = node.feature;
        out_.split_kind[at] = static_cast<std::uint8_t>(node.kind);
        out_.threshold[at] = node.kind == SplitKind::less_equal ? node.threshold : 0;
        out_.missing_child[at] = node.missing_child;
        for (std::size_t k = 0; k < n_children(tree, node); ++k) {
            out_.child.push_back(static_cast<std::int64_t>(root + node.first_child + k));
            if (multiway) out_.category_bits.push_back(tree.codes[node.codes + 1 + k]);
        }
        out_.child_offset.push_back(static_cast<std::int64_t>(out_.child.size()));
        out_.category_offset.push_back(static_cast<std::int64_t>(out_.category_bits.size()));
    }

    double* value(std::size_t at) { return out_.value.data() + at * n_values_; }

    void copy_statistics(const GrownTree& tree, std::size_t root) {
        for (std::size_t i = 0; i < tree.statistics.items.size(); ++i) {
            out_.weight[root + i] = tree.statistics.items[i].weight;
            out_.impurity[root + i] = tree.statistics.items[i].impurity;
        }
    }

    // Whole numbers: the same bits as while growing.
    template <class Sums>
    void derive_statistics(const Sums& criterion, std::size_t root, std::size_t n) {
        for (std::size_t at = root; at < root + n; ++at) {
            const double weight = std::accumulate(value(at), value(at) + n_values_, 0.0);
            out_.weight[at] = weight;
            out_.impurity[at] = criterion.impurity(weight, value(at));
        }
    }

    static constexpr double kLogTable = 4096;  // few nodes have more rows

    std::size_t n_values_;
    const std::vector<GrownTree>& trees_;
    ClassSums<Criterion::entropy> entropy_;
    ClassSums<Criterion::gini> gini_;
    ForestArrays out_;
};

}  // namespace

ForestArrays to_arrays(const GrownTrees& trees) { return Exporter(trees).run(); }

}  // namespace localmdi::grow
