// Partitioning a list of rows asks goes_first of every row and keeps their order.
#include <algorithm>
#include <numeric>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/forest/partition.hpp"
#include "support/check.hpp"

using namespace localmdi::forest;
using namespace localmdi::support;
using namespace localmdi::testing;

namespace {

// split_all is split of the rows 0 … n − 1.
template <class Partition, class Value>
void all_rows_keep_order(const Question<Value>& question, const std::vector<Value>& x,
                         std::size_t n) {
    std::vector<RowId> rows(n + kSlack), others(n + kSlack), all(n + kSlack), rest(n + kSlack);
    std::iota(rows.begin(), rows.end(), RowId(0));
    const std::size_t kept =
        Partition::split(question, x.data(), rows.data(), n, rows.data(), others.data());
    CHECK(Partition::split_all(question, x.data(), n, all.data(), rest.data()) == kept);
    const auto at = [](std::size_t k) { return static_cast<std::ptrdiff_t>(k); };
    CHECK(std::equal(rows.begin(), rows.begin() + at(kept), all.begin()));
    CHECK(std::equal(others.begin(), others.begin() + at(n - kept), rest.begin()));
}

// Vectors of exactly the promised size, so that the sanitizer sees a step beyond the slack.
template <class Partition, class Value>
void partition_keeps_order() {
    Random random(6);
    for (std::size_t n = 0; n < 70; ++n)
        for (const bool missing_first : {false, true}) {
            const Question<Value> question{Value(0.5), missing_first};
            const auto x = random_rows<Value>(random, 300);
            std::vector<RowId> rows(n + kSlack), others(n + kSlack), first, second;
            for (std::size_t i = 0; i < n; ++i) {
                rows[i] = static_cast<RowId>(below(random, 300));
                (goes_first(question, x[rows[i]]) ? first : second).push_back(rows[i]);
            }
            const auto check = [&](auto split) {
                std::vector<RowId> ours = rows;
                CHECK(split(question, x.data(), ours.data(), n, ours.data(), others.data()) ==
                      first.size());
                CHECK(std::equal(first.begin(), first.end(), ours.begin()));
                CHECK(std::equal(second.begin(), second.end(), others.begin()));
            };
            check([](auto&&... given) { return Partition::split(given...); });
            if (n <= kSlack) check([](auto&&... given) { return Partition::split_few(given...); });
            all_rows_keep_order<Partition>(question, random_rows<Value>(random, n + kSlack), n);
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
