#include "localmdi/infinite/small_counts.hpp"

#include <algorithm>

#include "localmdi/support/avx2.hpp"

namespace localmdi::infinite {
namespace {

constexpr std::size_t kGroups = ByteCounts::kGroups, kGroup = ByteCounts::kGroup;

std::uint64_t byte(std::uint64_t word, std::size_t s) { return word >> (8 * s) & 0xFF; }

// Within the words of one class.
void add_supersets(std::uint64_t* words) {
    for (std::size_t half = kGroups / 2; half > 0; half /= 2)
        for (std::size_t base = 0; base < kGroups; base += 2 * half)
            for (std::size_t i = base; i < base + half; ++i) words[i] += words[i + half];
    for (std::size_t i = 0; i < kGroups; ++i) {
        std::uint64_t word = words[i];
        word += word >> 8 & 0x00FF00FF00FF00FF;
        word += word >> 16 & 0x0000FFFF0000FFFF;
        words[i] = word + (word >> 32);
    }
}

void add_up(std::uint64_t* words, std::size_t n_classes, std::uint64_t* total) {
    std::fill_n(total, kGroups, 0);
    for (std::size_t c = 0; c < n_classes; ++c) {
        add_supersets(words + c * kGroups);
        for (std::size_t i = 0; i < kGroups; ++i) total[i] += words[c * kGroups + i];
    }
}

void add_codes(const std::uint64_t* words, std::size_t n_classes, std::uint16_t* codes) {
    std::fill_n(codes, kGroups * kGroup, std::uint16_t(0));
    for (std::size_t c = 0; c < n_classes; ++c)
        for (std::size_t i = 0; i < kGroups; ++i)
            for (std::size_t s = 0; s < kGroup; ++s) {
                std::uint16_t& sum = codes[i * kGroup + s];
                sum = static_cast<std::uint16_t>(
                    sum + SmallSets::kCode[byte(words[c * kGroups + i], s) & 15]);
            }
}

#ifdef LOCALMDI_AVX2
// The same with the words of a class in eight registers.
__attribute__((target("avx2"))) void add_up_avx2(std::uint64_t* words, std::size_t n_classes,
                                                 std::uint64_t* total) {
    constexpr std::size_t kVectors = kGroups / 4;
    const __m256i bytes = _mm256_set1_epi64x(0x00FF00FF00FF00FF);
    const __m256i pairs = _mm256_set1_epi64x(0x0000FFFF0000FFFF);
    __m256i sum[kVectors] = {};
    for (std::size_t c = 0; c < n_classes; ++c) {
        __m256i* const place = reinterpret_cast<__m256i*>(words + c * kGroups);
        __m256i v[kVectors];
        for (std::size_t i = 0; i < kVectors; ++i) v[i] = _mm256_loadu_si256(place + i);
        for (std::size_t i = 0; i < 4; ++i) v[i] = _mm256_add_epi64(v[i], v[i + 4]);
        for (const std::size_t i : {0, 1, 4, 5}) v[i] = _mm256_add_epi64(v[i], v[i + 2]);
        for (const std::size_t i : {0, 2, 4, 6}) v[i] = _mm256_add_epi64(v[i], v[i + 1]);
        for (std::size_t i = 0; i < kVectors; ++i) {
            __m256i word = v[i];
            word = _mm256_add_epi64(word, _mm256_permute2x128_si256(word, word, 0x81));
            word = _mm256_add_epi64(word, _mm256_srli_si256(word, 8));
            word = _mm256_add_epi64(word, _mm256_and_si256(_mm256_srli_epi64(word, 8), bytes));
            word = _mm256_add_epi64(word, _mm256_and_si256(_mm256_srli_epi64(word, 16), pairs));
            word = _mm256_add_epi64(word, _mm256_srli_epi64(word, 32));
            _mm256_storeu_si256(place + i, word);
            sum[i] = _mm256_add_epi64(sum[i], word);
        }
    }
    for (std::size_t i = 0; i < kVectors; ++i)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(total) + i, sum[i]);
}

// A shuffle looks up the codes of 32 counts below 16 at once, their low and their high bytes.
__attribute__((target("avx2"))) void add_codes_avx2(const std::uint64_t* words,
                                                    std::size_t n_classes, std::uint16_t* codes) {
    alignas(32) std::uint8_t tables[2][32];
    for (std::size_t i = 0; i < 32; ++i) {
        tables[0][i] = static_cast<std::uint8_t>(SmallSets::kCode[i % 16] & 0xFF);
        tables[1][i] = static_cast<std::uint8_t>(SmallSets::kCode[i % 16] >> 8);
    }
    const __m256i low_table = _mm256_load_si256(reinterpret_cast<const __m256i*>(tables[0]));
    const __m256i high_table = _mm256_load_si256(reinterpret_cast<const __m256i*>(tables[1]));
    const __m256i fifteen = _mm256_set1_epi8(15);
    for (std::size_t i = 0; i < kGroups; i += 4) {
        __m256i even = _mm256_setzero_si256(), odd = even;  // groups i and i + 2, i + 1 and i + 3
        for (std::size_t c = 0; c < n_classes; ++c) {
            const __m256i counts = _mm256_and_si256(
                fifteen,
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + c * kGroups + i)));
            const __m256i low = _mm256_shuffle_epi8(low_table, counts);
            const __m256i high = _mm256_shuffle_epi8(high_table, counts);
            even = _mm256_add_epi16(even, _mm256_unpacklo_epi8(low, high));
            odd = _mm256_add_epi16(odd, _mm256_unpackhi_epi8(low, high));
        }
        __m256i* const to = reinterpret_cast<__m256i*>(codes + i * kGroup);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
}
#endif

}  // namespace

ByteCounts::ByteCounts(const MatchMasks& masks, bool simd) : masks_(masks), simd_(simd) {
    for (std::uint32_t group = 0; group < kGroups; ++group)
        for (std::uint32_t other = 0; other <= group; ++other)
            if ((group & other) == other) within_[group] |= std::uint32_t{1} << other;
    for (std::size_t i = 0; i < masks.mask.size(); ++i) {
        double n = 0;
        for (std::size_t e = masks.entry_offset[i]; e < masks.entry_offset[i + 1]; ++e)
            n += masks.entry_weight[e];
        n_rows_.push_back(static_cast<std::uint32_t>(n));
    }
}

bool ByteCounts::count(const std::vector<std::uint32_t>& rows) {
    std::size_t n = 0;
    for (const std::uint32_t i : rows) n += n_rows_[i];
    if (n > 255) return false;
    masks_.find_present(rows, present_, place_);
    add_rows(rows);
#ifdef LOCALMDI_AVX2
    if (simd_ && support::has_avx2()) {
        add_up_avx2(words_.data(), width(), total_.data());
        add_codes_avx2(words_.data(), width(), codes_.data());
        return true;
    }
#endif
    add_up(words_.data(), width(), total_.data());
    add_codes(words_.data(), width(), codes_.data());
    return true;
}

void ByteCounts::add_rows(const std::vector<std::uint32_t>& rows) {
    words_.assign(width() * kGroups, 0);
    impure_ = 0;
    const std::int32_t label = masks_.label[masks_.copies];
    for (const std::uint32_t i : rows) {
        const std::size_t subset = masks_.mask[i] & (kGroups * kGroup - 1);
        const bool other = i != masks_.copies && (label < 0 || masks_.label[i] != label);
        if (other) impure_ |= within_[subset / kGroup];
        for (std::size_t e = masks_.entry_offset[i]; e < masks_.entry_offset[i + 1]; ++e) {
            const auto place =
                static_cast<std::size_t>(place_[static_cast<std::size_t>(masks_.entry_slot[e])]);
            words_[place * kGroups + subset / kGroup] +=
                static_cast<std::uint64_t>(masks_.entry_weight[e]) << (8 * (subset % kGroup));
        }
    }
}

void ByteCounts::copy_counts(std::uint32_t group, std::uint16_t* counts, std::size_t stride) const {
    for (std::size_t c = 0; c < width(); ++c)
        for (std::size_t s = 0; s < kGroup; ++s)
            counts[s * stride + c] =
                static_cast<std::uint16_t>(byte(words_[c * kGroups + group], s));
}

}  // namespace localmdi::infinite
