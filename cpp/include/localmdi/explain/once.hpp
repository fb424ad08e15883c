// local_mdi of trees that nobody keeps packed.
//
// Some trees are packed, all rows go through them, and the next trees take their place in memory.
// A row's trees come in their order, as ever, so its sums have the same bits. With room for two of
// five trees:
//
//     pack 0 1    all rows add 0 and 1      packed   [0 1]
//     pack 2 3    all rows add 2 and 3               [2 3]    where 0 and 1 were
//     pack 4      all rows add 4, and divide         [4  ]
//
// Why: packed trees of 4 MB stay in a cache between packing and explaining, and a process that
// explains once need not ask the system for the memory of all: to get that can take as long as to
// explain, and more where a virtual machine has returned it to its host.
#pragma once

#include <cstddef>

#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/forest/pack_drops.hpp"

namespace localmdi::explain {

inline constexpr std::size_t kPartBytes = std::size_t{1} << 22;

// What local_mdi() gives for the trees that pack_drops() packs, to the bit. False: it refuses them;
// values and residual then mean nothing. part_bytes: how much is packed at a time.
bool local_mdi_once(const forest::TreeRecords& records, const Rows<float>& rows, double* values,
                    double* residual, const Run& run, Interrupt& interrupt,
                    std::size_t part_bytes = kPartBytes);

}  // namespace localmdi::explain
