// Packing for local MDI straight from the records of binary trees: no node table is made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "localmdi/forest/binary_tree.hpp"
#include "localmdi/forest/packed_forest.hpp"
#include "localmdi/support/parallel.hpp"

namespace localmdi::forest {

// Trees as a model keeps them, and what each of them weighs.
struct TreeRecords {
    std::span<const BinaryTree> trees;
    std::span<const double> tree_weight;
    std::int64_t n_features;
};

// Packs what pack() gives for the table of these trees and the drops of their impurities, to the
// last bit. The contents of the trees are not trusted: they are checked as they are read, by the
// rules of validate() and those of the statistics. Nothing if one is broken, or if there are too
// many nodes or features: the table says what is wrong (NodeWriter, validate()).
std::optional<PackedForest<float>> pack_drops(const TreeRecords& records, std::size_t n_threads,
                                              support::Interrupt& interrupt);

}  // namespace localmdi::forest
