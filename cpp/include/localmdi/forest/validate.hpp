// Whether a node table is a forest. Safe on any contents: after it no kernel checks anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "localmdi/forest/forest_view.hpp"

namespace localmdi::forest {

// Category codes are read from floating-point rows, so they must be exact there.
inline constexpr std::uint64_t kMaxCategoryCode = (std::uint64_t{1} << 53) - 1;

// The rule that is broken, and at which node (of "tree_offset": at which tree). The sentences that
// belong to the codes stand in src/localmdi/forest/rules.py.
struct Problem {
    std::string_view code;
    std::size_t node;
};

// The first problem in node order, or nothing if the table is a forest (docs/format/forest.md).
// Linear time; allocates one bit per node.
std::optional<Problem> validate(const ForestView& forest);

}  // namespace localmdi::forest
