// Tiles of rows: how many rows they have, and that they know whether a value is missing.
#include "localmdi/explain/rows.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "localmdi/explain/for_each_tile.hpp"
#include "support/check.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;

namespace {

// Split on feature 0 that sends missing values to the first child.
template <class Value>
PackedSplit<Value> missing_first() {
    PackedSplit<Value> split{};
    split.threshold = Value(0.5);
    split.split = kMissingFirst;
    return split;
}

// Tiles of three rows, of which only the second has a missing value, in its last place.
template <class Value>
void dense_rows() {
    constexpr std::size_t kRows = 9, kFeatures = 2;
    std::vector<Value> data(kRows * kFeatures, Value(0.25));
    data[6 * kFeatures - 1] = std::numeric_limits<Value>::quiet_NaN();
    const Rows<Value> rows{kRows, kFeatures, data};
    Tile<Value> tile(kFeatures, 3);
    for (const std::size_t first : {0u, 3u, 6u, 3u}) {
        tile.fill(rows, first, 3);
        const Question<Value> question = tile.question(missing_first<Value>());
        CHECK(question.threshold == Value(0.5));
        CHECK(question.missing_first == (first == 3));
        CHECK(!tile.question(PackedSplit<Value>{}).missing_first);
    }
}

// The same for compressed rows; a row without entries has none that is missing.
template <class Value>
void compressed_rows() {
    const std::vector<Value> data{Value(1), std::numeric_limits<Value>::quiet_NaN()};
    const std::vector<std::int64_t> indices{0, 1}, indptr{0, 1, 2, 2};
    const Rows<Value> rows{3, 2, data, indptr, indices};
    Tile<Value> tile(2, 1);
    for (const std::size_t row : {0u, 1u, 2u}) {
        tile.fill(rows, row, 1);
        CHECK(tile.question(missing_first<Value>()).missing_first == (row == 1));
    }
}

// Wherever it lies, one value that is not finite is found; sums of large ones do not count.
template <class Value>
void finite_values() {
    using Limits = std::numeric_limits<Value>;
    for (const std::size_t n : {0u, 1u, 15u, 16u, 17u, 40u}) {
        std::vector<Value> values(n, Limits::max());
        CHECK(all_finite(std::span<const Value>(values)));
        for (Value& value : values) {
            for (const Value bad : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
                const Value good = std::exchange(value, bad);
                CHECK(!all_finite(std::span<const Value>(values)));
                value = good;
            }
        }
    }
}

// Rows follow their paths alone only while few of them would share a node.
void few_rows() {
    CHECK(are_few(1, 8, 3, 1) && !are_few(2, 8, 3, 1));
    CHECK(!are_few(1, 100, 1, 0) && !are_few(1, 100, 0, 0));
    CHECK(are_few(699, 8, 10000, 20) && !are_few(701, 8, 10000, 20));
    CHECK(are_few(87, 1, 10000, 20) && !are_few(88, 1, 10000, 20));
    CHECK(!are_few(kLargeTree, 8, std::size_t{1} << 40, 50));
    CHECK(are_few(3, 8, 10000, 5000) && !are_few(4, 8, 10000, 5000));
}

// As few tiles as the cache allows, all alike, and as many for each thread.
void tiles_are_alike() {
    CHECK(tile_capacity(100000, 240, 1, false) == 25000);  // at most 26,214 of 240 bytes
    CHECK(tile_capacity(100000, 240, 2, false) == 16667);  // at most 17,476: three for each
    CHECK(tile_capacity(100000, 8, 1, false) == 25000);    // at most 32,768
    CHECK(tile_capacity(200000, 432, 1, true) == 15385);   // at most 16,384
    CHECK(tile_capacity(1000, 1 << 30, 1, false) == 63);   // at least 64 in the cache: 16 tiles
    CHECK(tile_capacity(3, 8, 8, false) == 1);
    CHECK(tile_capacity(0, 8, 1, false) == 1);
    CHECK(tile_capacity(5, 8, 0, false) == 5);
}

}  // namespace

int main() {
    tiles_are_alike();
    few_rows();
    finite_values<float>();
    finite_values<double>();
    dense_rows<float>();
    dense_rows<double>();
    compressed_rows<float>();
    compressed_rows<double>();
}
