#include "localmdi/forest/validate.hpp"

#include "localmdi/forest/node_rules.hpp"

namespace localmdi::forest {
namespace {

using Code = std::string_view;
constexpr Code kGood{};

// Part of an array. Ends come from int64 fields: a negative one turns into a huge one here, so that
// one comparison refuses both.
struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};

// One pass over the nodes, in their order. Nothing is read before it is known to lie inside its
// array: offsets are compared with what came before them and with the array's end, and only then
// used. Files reach this code from anywhere.
class Validator {
public:
    explicit Validator(const ForestView& forest) : forest_(forest) {}

    std::optional<Problem> run() {
        if (const Code code = check_sizes(); !code.empty()) return Problem{code, 0};
        claims_.reset(forest_.n_nodes());
        for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
            const auto begin = static_cast<std::size_t>(forest_.tree_offset[tree]);
            const auto end = static_cast<std::size_t>(forest_.tree_offset[tree + 1]);
            if (begin >= end || end > forest_.n_nodes()) return Problem{"tree_offset", tree};
            if (const auto problem = check_tree({begin, end})) return problem;
        }
        if (static_cast<std::size_t>(forest_.tree_offset.back()) != forest_.n_nodes())
            return Problem{"tree_offset", forest_.n_trees() - 1};
        if (n_children_ != forest_.child.size())
            return Problem{"child_offset", forest_.n_nodes() - 1};
        if (n_categories_ != forest_.category_bits.size())
            return Problem{"category_offset", forest_.n_nodes() - 1};
        return find_orphan();
    }

private:
    Code check_sizes() const {
        const std::size_t n = forest_.n_nodes();
        if (forest_.split_kind.size() != n || forest_.threshold.size() != n ||
            forest_.missing_child.size() != n || forest_.child_offset.size() != n + 1 ||
            forest_.category_offset.size() != n + 1)
            return "lengths";
        if (forest_.n_features < 1) return "n_features";
        if (forest_.tree_offset.size() < 2 || forest_.tree_offset[0] != 0) return "tree_offset";
        if (forest_.child_offset[0] != 0) return "child_offset";
        if (forest_.category_offset[0] != 0) return "category_offset";
        return kGood;
    }

    std::optional<Problem> check_tree(Range tree) {
        for (std::size_t node = tree.begin; node < tree.end; ++node) {
            const Range children{n_children_,
                                 static_cast<std::size_t>(forest_.child_offset[node + 1])};
            const Range categories{n_categories_,
                                   static_cast<std::size_t>(forest_.category_offset[node + 1])};
            if (children.end < children.begin || children.end > forest_.child.size())
                return Problem{"child_offset", node};
            if (categories.end < categories.begin || categories.end > forest_.category_bits.size())
                return Problem{"category_offset", node};
            n_children_ = children.end;
            n_categories_ = categories.end;
            Code code = check_node(node, children.size(), categories);
            if (code.empty()) code = claim_children(node, tree.end, children);
            if (!code.empty()) return Problem{code, node};
        }
        return std::nullopt;
    }

    Code check_node(std::size_t node, std::size_t n_children, Range categories) const {
        const SplitKind kind = forest_.kind(node);
        if (kind > SplitKind::multiway) return "split_kind";
        const std::int32_t missing = forest_.missing_child[node], feature = forest_.feature[node];
        if (missing < -1 || missing >= static_cast<std::int64_t>(n_children))
            return "missing_child";
        if (kind == SplitKind::leaf) return check_leaf(feature, n_children, categories);
        if (!is_split_feature(feature, forest_.n_features)) return "feature";
        if (kind == SplitKind::multiway) return check_multiway(n_children, categories);
        if (n_children != 2) return "two_children";
        if (kind == SplitKind::category_set) return categories.size() ? kGood : "category_set";
        if (categories.size() != 0) return "no_categories";
        return is_ordered_threshold(forest_.threshold[node]) ? kGood : "threshold";
    }

    static Code check_leaf(std::int32_t feature, std::size_t n_children, Range categories) {
        if (n_children != 0) return "leaf_children";
        if (categories.size() != 0) return "no_categories";
        return feature == -1 ? kGood : "leaf_feature";
    }

    Code check_multiway(std::size_t n_children, Range categories) const {
        if (n_children == 0) return "multiway_children";
        if (categories.size() != n_children) return "multiway_codes";
        for (std::size_t at = categories.begin; at < categories.end; ++at) {
            const std::uint64_t code = forest_.category_bits[at];
            if (code > kMaxCategoryCode) return "category_code";
            if (at > categories.begin && code <= forest_.category_bits[at - 1])
                return "category_order";
        }
        return kGood;
    }

    Code claim_children(std::size_t node, std::size_t tree_end, Range children) {
        for (std::size_t at = children.begin; at < children.end; ++at) {
            const auto child = static_cast<std::size_t>(forest_.child[at]);
            if (!is_child_place(node, child, tree_end)) return "child";
            if (!claims_.claim(child)) return "two_parents";
        }
        return kGood;
    }

    std::optional<Problem> find_orphan() const {
        // No root has a parent and no child two: if the numbers agree, every other node has one.
        if (forest_.child.size() == forest_.n_nodes() - forest_.n_trees()) return std::nullopt;
        for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
            const auto root = static_cast<std::size_t>(forest_.tree_offset[tree]);
            const auto end = static_cast<std::size_t>(forest_.tree_offset[tree + 1]);
            for (std::size_t node = root + 1; node < end; ++node)
                if (!claims_.has_parent(node)) return Problem{"orphan", node};
        }
        return std::nullopt;
    }

    const ForestView& forest_;
    ParentClaims claims_;
    std::size_t n_children_ = 0;    // of the nodes so far
    std::size_t n_categories_ = 0;  // likewise
};

}  // namespace

std::optional<Problem> validate(const ForestView& forest) { return Validator(forest).run(); }

}  // namespace localmdi::forest
