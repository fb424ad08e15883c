// Leaves that wait for memory change no bit of the sums.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "localmdi/grow/row_sums.hpp"
#include "localmdi/grow/tree_random.hpp"
#include "support/check.hpp"

using namespace localmdi::grow;

namespace {

// The same sums, added at once and from zero.
struct Plain {
    std::size_t p;
    std::vector<double> values, residual;

    void add(const TreeImportance& tree, std::span<const std::uint32_t> rows) {
        for (const std::size_t row : rows) {
            for (std::size_t f = 0; f < p; ++f) values[row * p + f] += tree.values[f];
            residual[row] += tree.remainder;
        }
    }
};

// Adds a tree whose leaves have 1 to 20 rows each.
void add_tree(RowSums& sums, Plain& plain, std::uint32_t n_on_path, TreeRandom& random) {
    const auto n = static_cast<std::uint32_t>(plain.residual.size());
    const auto p = static_cast<std::uint32_t>(plain.p);
    std::vector<std::uint32_t> rows(n), path(n_on_path);
    std::iota(rows.begin(), rows.end(), 0u);
    for (std::uint32_t i = n; i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
    for (std::uint32_t begin = 0, end = 0; begin < n; begin = end) {
        end = std::min(n, begin + 1 + random.below(20));
        std::vector<double> values(p);
        for (auto& feature : path) values[feature = random.below(p)] = random.uniform();
        const double remainder = random.below(3) == 0 ? random.uniform() : 0;
        const TreeImportance leaf{0, values, path, remainder};
        sums.add(leaf, {rows.data() + begin, end - begin});
        plain.add(leaf, {rows.data() + begin, end - begin});
    }
    sums.end_tree();
}

void check_sums(std::uint32_t n, std::uint32_t p, std::uint32_t n_on_path) {
    TreeRandom random(1, n);
    RowSums sums(n, p);
    for (int chunk = 0; chunk < 2; ++chunk) {
        Plain plain{p, std::vector<double>(n * p), std::vector<double>(n)};
        for (int tree = 0; tree < 3; ++tree) add_tree(sums, plain, n_on_path, random);
        std::vector<double> values(n * p), residual(n), squares(n * p), expected(n * p);
        for (std::size_t i = 0; i < n * p; ++i) expected[i] = plain.values[i] * plain.values[i];
        sums.commit(values.data(), residual.data(), squares.data());
        CHECK(values == plain.values && residual == plain.residual && squares == expected);
    }
}

}  // namespace

int main() {
    for (const std::uint32_t n_on_path : {1u, 20u}) {
        check_sums(300, 40, n_on_path);   // in a cache: added at once
        check_sums(9000, 40, n_on_path);  // waiting, where the path is not short
        check_sums(5, 60'000, n_on_path);
    }
    return 0;
}
