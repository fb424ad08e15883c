// Partitioning a list of rows asks goes_first of every row and keeps their order.
#include <algorithm>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/forest/partition.hpp"
#include "support/check.hpp"

using namespace localmdi::forest;
using namespace localmdi::support;
using namespace localmdi::testing;

namespace {

// Vectors of exactly the promised size, so that the sanitizer sees a step beyond the slack.
template <class Partition, class Value>
void partition_keeps_order() {
    Random random(6);
    for (std::size_t n = 0; n < 70; ++n)
        for (const std::uint32_t missing : {0u, kMissingFirst}) {
            PackedNode<Value> node{};
            node.threshold = Value(0.5);
            node.split = missing;
            const auto x = random_rows<Value>(random, 300);
            std::vector<RowId> rows(n + kSlack), others(n + kSlack), first, second;
            for (std::size_t i = 0; i < n; ++i) {
                rows[i] = static_cast<RowId>(below(random, 300));
                (goes_first(node, x[rows[i]]) ? first : second).push_back(rows[i]);
            }
            const std::size_t kept =
                Partition::split(node, x.data(), rows.data(), n, rows.data(), others.data());
            CHECK(kept == first.size());
            CHECK(std::equal(first.begin(), first.end(), rows.begin()));
            CHECK(std::equal(second.begin(), second.end(), others.begin()));
        }
}

}  // namespace

int main() {
    partition_keeps_order<ScalarPartition, float>();
    partition_keeps_order<ScalarPartition, double>();
#ifdef LOCALMDI_AVX2
    if (has_avx2()) partition_keeps_order<Avx2Partition, float>();
#endif
}
