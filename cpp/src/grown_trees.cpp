#include "localmdi/grown_trees.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace localmdi {

void GrownTrees::append(const GrownTrees& others) {
    if ((values.size() + others.values.size()) / n_values >= kDense)
        throw std::length_error("a forest can have at most 2**31 leaves with values of their own");
    const auto first_node = static_cast<std::int64_t>(nodes.size());
    const auto first_value = static_cast<std::uint32_t>(values.size() / n_values);
    for (std::size_t t = 1; t < others.tree_offset.size(); ++t)
        tree_offset.push_back(first_node + others.tree_offset[t]);
    nodes.insert(nodes.end(), others.nodes.begin(), others.nodes.end());
    values.insert(values.end(), others.values.begin(), others.values.end());
    if (first_value == 0) return;
    for (auto node = nodes.begin() + first_node; node != nodes.end(); ++node)
        if (node->kind == SplitKind::leaf && node->first_child & kDense) node->first_child += first_value;
}

void GrownTrees::clear() {
    tree_offset.assign(1, 0);
    nodes.clear();
    values.clear();
}

namespace {

class Exporter {
public:
    explicit Exporter(const GrownTrees& trees) : trees_(trees) {}

    ForestArrays run() {
        const std::size_t n = trees_.nodes.size();
        out_.tree_offset = trees_.tree_offset;
        out_.feature.resize(n);
        out_.split_kind.resize(n);
        out_.threshold.resize(n);
        out_.missing_child.resize(n);
        out_.child_offset.reserve(n + 1);
        out_.category_offset.reserve(n + 1);
        out_.child.reserve(n);
        out_.weight.resize(n);
        out_.impurity.resize(n);
        out_.value.resize(n * trees_.n_values);
        out_.child_offset.push_back(0);
        out_.category_offset.push_back(0);
        for (std::size_t t = 0; t + 1 < trees_.tree_offset.size(); ++t) {
            const auto begin = static_cast<std::size_t>(trees_.tree_offset[t]);
            const auto end = static_cast<std::size_t>(trees_.tree_offset[t + 1]);
            for (std::size_t node = begin; node < end; ++node) copy(node, begin);
            // Children lie after their parents: backwards, they are complete before they are needed.
            for (std::size_t node = end; node-- > begin;) set_value(node, begin);
        }
        return std::move(out_);
    }

private:
    void copy(std::size_t at, std::size_t root) {
        const GrownNode& node = trees_.nodes[at];
        out_.feature[at] = node.feature;
        out_.split_kind[at] = static_cast<std::uint8_t>(node.kind);
        out_.threshold[at] = node.threshold;
        out_.missing_child[at] = node.missing_child;
        out_.weight[at] = node.weight;
        out_.impurity[at] = node.impurity;
        for (std::size_t k = 0; k < node.n_children; ++k) {
            const std::size_t child = root + node.first_child + k;
            out_.child.push_back(static_cast<std::int64_t>(child));
            if (node.kind == SplitKind::multiway) out_.category_bits.push_back(trees_.nodes[child].code);
        }
        out_.child_offset.push_back(static_cast<std::int64_t>(out_.child.size()));
        out_.category_offset.push_back(static_cast<std::int64_t>(out_.category_bits.size()));
    }

    void set_value(std::size_t at, std::size_t root) {
        const GrownNode& node = trees_.nodes[at];
        const std::size_t k = trees_.n_values;
        double* const value = out_.value.data() + at * k;
        std::fill_n(value, k, 0.0);
        if (node.kind != SplitKind::leaf) {
            for (std::size_t c = 0; c < node.n_children; ++c) {
                const std::size_t child = root + node.first_child + c;
                const double share = trees_.nodes[child].weight / node.weight;
                for (std::size_t v = 0; v < k; ++v) value[v] += share * out_.value[child * k + v];
            }
        } else if (node.first_child & kDense) {
            const double* const sums = trees_.values.data() + (node.first_child ^ kDense) * k;
            if (node.weight > 0)
                for (std::size_t v = 0; v < k; ++v) value[v] = sums[v] / node.weight;
        } else {
            value[node.first_child] = 1;
        }
    }

    const GrownTrees& trees_;
    ForestArrays out_;
};

}  // namespace

ForestArrays to_arrays(const GrownTrees& trees) { return Exporter(trees).run(); }

}  // namespace localmdi
