// Trees that are packed part by part give the bits of a forest that is packed as a whole.
#include "localmdi/explain/once.hpp"

#include <random>
#include <vector>

#include "forest/binary_records.hpp"
#include "forest/random_forest.hpp"
#include "support/check.hpp"
#include "support/same_bits.hpp"

using namespace localmdi::explain;
using namespace localmdi::testing;
using localmdi::forest::pack_drops;
using localmdi::forest::TreeRecords;

namespace {

struct Sample {
    std::size_t n_features;
    std::vector<std::vector<Record>> nodes;
    std::vector<BinaryTree> trees;
    std::vector<double> weight;

    // Leaves at which nothing is left: of none, some or all trees.
    Sample(std::size_t n_trees, std::size_t n_features, std::size_t n_pure)
        : n_features(n_features) {
        std::mt19937_64 random(7);
        for (std::size_t t = 0; t < n_trees; ++t) {
            nodes.push_back(random_tree(random, t % 31, n_features));
            if (t < n_pure)
                for (Record& node : nodes.back())
                    if (node.left < 0) node.impurity = 0;
            weight.push_back(1.0 / static_cast<double>(t + 1));
        }
        for (const auto& tree : nodes) trees.push_back(tree_of(tree));
    }

    TreeRecords records() const { return {trees, weight, static_cast<std::int64_t>(n_features)}; }
};

struct Result {
    std::vector<double> values, residual;

    explicit Result(const Rows<float>& rows)
        : values(rows.n_rows * rows.n_features, 7.0), residual(rows.n_rows, 7.0) {}
};

void equals_the_whole(const Sample& sample) {
    Random random(8);
    const std::size_t p = sample.n_features;
    Interrupt interrupt;
    PackedForest<float> whole;
    CHECK(pack_drops(sample.records(), 1, interrupt, whole));
    for (const std::size_t n : {1u, 70u, 700u}) {
        const auto x = random_rows<float>(random, n * p);
        const Rows<float> rows{n, p, x};
        Result expected(rows);
        local_mdi(whole, rows, expected.values.data(), expected.residual.data(), nullptr, Run{},
                  interrupt);
        for (const std::size_t part_bytes : {std::size_t{0}, kPartBytes})
            for (const std::size_t n_threads : {1u, 3u}) {
                Result found(rows);
                CHECK(local_mdi_once(sample.records(), rows, found.values.data(),
                                     found.residual.data(), Run{n_threads}, interrupt, part_bytes));
                CHECK(same_bits(found.values, expected.values));
                CHECK(same_bits(found.residual, expected.residual));
            }
    }
}

// Wherever the broken tree is.
void broken_trees_are_refused() {
    const std::vector<float> x(4);
    const Rows<float> rows{1, 4, x};
    Interrupt interrupt;
    Result found(rows);
    const auto explains = [&](const TreeRecords& records) {
        return local_mdi_once(records, rows, found.values.data(), found.residual.data(), Run{},
                              interrupt, 0);
    };
    for (const std::size_t broken : {0u, 100u, 149u}) {
        Sample sample(150, 4, 0);
        CHECK(explains(sample.records()));
        sample.nodes[broken][0].impurity = NAN;
        CHECK(!explains(sample.records()));
    }
    CHECK(!explains({{}, {}, 4}));
    const Sample sample(150, 4, 0);
    CHECK(!local_mdi_once({sample.trees, sample.weight, 0}, Rows<float>{1, 0, {}}, nullptr,
                          found.residual.data(), Run{}, interrupt));
}

}  // namespace

int main() {
    for (const std::size_t n_pure : {0u, 70u, 150u}) equals_the_whole(Sample(150, 4, n_pure));
    equals_the_whole(Sample(20, 300, 0));  // too many features for parts
    equals_the_whole(Sample(1, 4, 0));     // a root alone
    broken_trees_are_refused();
}
