// Splits a list of rows at a category set; the vector form of child_number in routing.hpp for sets
// of categories 0 … 63, as partition.hpp is that of goes_first.
//
// A category set is a word of bits. Shifted right by a row's code, its lowest bit says whether the
// row goes first; the processor shifts eight words by eight codes at once. Example: the set {1, 2}
// is 0b0110.
//
//     x                 0    1    2    3    2.5  NaN
//     code              0    1    2    3    2    none
//     word >> code      0110 011  01   0         0        lowest bit: 0 1 1 0 . 0
//     code == x         yes  yes  yes  yes  no   no       2.5 is no category: it goes second
//
// Missing values go where the split says.
#pragma once

#include <cstdint>

#include "localmdi/forest/partition.hpp"

namespace localmdi::forest {

// As Partition::split. By the partition's kind, so that a walk can choose vectors for all its
// splits.
template <class Value>
std::size_t split_set(ScalarPartition, const UnorderedSplit& split, const Value* x,
                      const RowId* rows, std::size_t n, RowId* firsts, RowId* others) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const RowId row = rows[i];
        const bool first = child_number(split, x[row]) == 0;
        firsts[kept] = row;
        others[i - kept] = row;
        kept += first;
    }
    return kept;
}

#ifdef LOCALMDI_AVX2

// child_number(split, x) == 0 for eight values and a set of one word, a bit each.
struct InSet8 {
    std::uint64_t word;
    bool missing_first;

    __attribute__((target("avx2"))) unsigned operator()(__m256 v) const {
        const __m256i code = _mm256_cvttps_epi32(v);  // negative if v is missing or too large
        const __m256 exact = _mm256_cmp_ps(_mm256_cvtepi32_ps(code), v, _CMP_EQ_OQ);
        // A shift by a negative number or by more than 31 gives 0.
        const __m256i low = _mm256_set1_epi32(static_cast<std::int32_t>(word & 0xffffffffu));
        const __m256i high = _mm256_set1_epi32(static_cast<std::int32_t>(word >> 32));
        const __m256i beyond = _mm256_sub_epi32(code, _mm256_set1_epi32(32));
        const __m256i bits =
            _mm256_or_si256(_mm256_srlv_epi32(low, code), _mm256_srlv_epi32(high, beyond));
        const __m256 in_set = _mm256_castsi256_ps(_mm256_slli_epi32(bits, 31));
        const __m256 missing = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
        return static_cast<unsigned>(_mm256_movemask_ps(_mm256_and_ps(in_set, exact))) |
               (missing_first ? static_cast<unsigned>(_mm256_movemask_ps(missing)) : 0u);
    }
};

__attribute__((target("avx2,popcnt"), noinline)) inline std::size_t split_set(
    Avx2Partition, const UnorderedSplit& split, const float* x, const RowId* rows, std::size_t n,
    RowId* firsts, RowId* others) {
    if (split.categories.size() > 1)
        return split_set(ScalarPartition{}, split, x, rows, n, firsts, others);
    const InSet8 goes{split.categories[0], split.missing_child == 0};
    return split_by_eight<false>(goes, x, rows, n, firsts, others);
}

#endif

}  // namespace localmdi::forest
