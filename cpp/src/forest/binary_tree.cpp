#include "localmdi/forest/binary_tree.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "localmdi/forest/forest_view.hpp"

namespace localmdi::forest {
namespace {

constexpr std::int64_t kNoChild = -1;

[[noreturn]] void refuse(std::size_t node, const char* rule) {
    throw std::invalid_argument("node " + std::to_string(node) + ": " + rule);
}

bool is_inside(std::int64_t index, std::size_t size) {
    return index >= 0 && static_cast<std::uint64_t>(index) < size;
}

std::int32_t column_of(const BinaryTree& tree, std::size_t at) {
    const std::int64_t feature = tree.feature[at];
    const bool is_mapped = !tree.column.empty();
    if (is_mapped && !is_inside(feature, tree.column.size()))
        refuse(at, "its feature is not one of the columns the tree was given");
    const std::int64_t column =
        is_mapped ? tree.column[static_cast<std::size_t>(feature)] : feature;
    if (!is_inside(column, std::numeric_limits<std::int32_t>::max()))
        refuse(at, "its feature is no column index");
    return static_cast<std::int32_t>(column);
}

std::int64_t child_id(const BinaryTree& tree, std::size_t at, std::int64_t child,
                      std::size_t root) {
    if (!is_inside(child, tree.n_nodes)) refuse(at, "a child is not a node of the tree");
    return static_cast<std::int64_t>(root) + child;
}

std::int32_t missing_child_of(const BinaryTree& tree, std::size_t at) {
    if (tree.missing_goes_left.data == nullptr) return -1;
    return tree.missing_goes_left[at] ? 0 : 1;
}

}  // namespace

NodeWriter::NodeWriter(const NodeColumns& table) : table_(table) {
    const std::size_t n = table.feature.size();
    if (table.split_kind.size() != n || table.threshold.size() != n ||
        table.missing_child.size() != n || table.weight.size() != n || table.impurity.size() != n ||
        table.child_offset.size() != n + 1)
        throw std::invalid_argument("the arrays of the table have unequal lengths");
    table_.child_offset[0] = 0;
}

void NodeWriter::append(const BinaryTree& tree) {
    if (tree.n_nodes == 0) throw std::invalid_argument("the tree has no nodes");
    if (tree.n_nodes > table_.feature.size() - n_nodes_ ||
        tree.n_nodes - 1 > table_.child.size() - n_children_)
        throw std::invalid_argument("the tree has more nodes than were reserved");
    // Locals, because a write through a byte pointer could change every member.
    const NodeColumns table = table_;
    const std::size_t root = n_nodes_, children_end = n_children_ + tree.n_nodes - 1;
    std::size_t n_children = n_children_;
    for (std::size_t at = 0; at < tree.n_nodes; ++at) {
        const std::size_t node = root + at;
        const bool is_leaf = tree.left[at] == kNoChild && tree.right[at] == kNoChild;
        if (!is_leaf) {
            if (n_children + 2 > children_end) refuse(at, "there are more children than nodes");
            table.child[n_children++] = child_id(tree, at, tree.left[at], root);
            table.child[n_children++] = child_id(tree, at, tree.right[at], root);
        }
        table.child_offset[node + 1] = static_cast<std::int64_t>(n_children);
        table.split_kind[node] =
            static_cast<std::uint8_t>(is_leaf ? SplitKind::leaf : SplitKind::less_equal);
        table.feature[node] = is_leaf ? -1 : column_of(tree, at);
        table.threshold[node] = is_leaf ? 0.0 : tree.threshold[at];
        table.missing_child[node] = is_leaf ? -1 : missing_child_of(tree, at);
        table.weight[node] = tree.weight[at];
        table.impurity[node] = tree.impurity[at];
    }
    if (n_children != children_end) refuse(tree.n_nodes - 1, "some nodes are no node's child");
    n_children_ = n_children;
    n_nodes_ += tree.n_nodes;
}

}  // namespace localmdi::forest
