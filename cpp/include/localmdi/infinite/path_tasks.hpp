// Sums over random pairs of paths, the same whatever the number of threads.
//
// The pairs of a row are cut into chunks; a chunk's sums are made by one thread, and the chunks are
// added in order. Ten pairs in chunks of four:
//
//     chunk 0: pairs 0 to 3    chunk 1: pairs 4 to 7    chunk 2: pairs 8 and 9
//     sum = (chunk 0 + chunk 1) + chunk 2, whoever was ready first
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "localmdi/support/parallel.hpp"

namespace localmdi::infinite {

struct PathTasks {
    std::size_t n_rows;
    std::uint64_t first;  // pair
    std::uint64_t count;
    std::uint64_t chunk;  // pairs
    std::size_t width;    // numbers that a chunk sums
};

// make_worker() is called once per thread, worker(row, first, last, part) adds the pairs [first,
// last) of a row to its part, add(row, part) takes the parts over, in order.
template <class MakeWorker, class Add>
void sum_paths(const PathTasks& tasks, std::size_t n_threads, support::Interrupt& interrupt,
               MakeWorker make_worker, Add add) {
    constexpr std::size_t kPartsMemory = std::size_t{1} << 25;
    const std::size_t width = tasks.width;
    const std::size_t n_chunks = (tasks.count + tasks.chunk - 1) / tasks.chunk;
    const std::size_t n_tasks = tasks.n_rows * n_chunks;
    const std::size_t part_bytes = std::max<std::size_t>(width, 1) * sizeof(double);
    const std::size_t slice = std::max<std::size_t>(1, kPartsMemory / part_bytes);
    std::vector<double> parts;
    for (std::size_t start = 0; start < n_tasks; start += slice) {
        const std::size_t n_parts = std::min(slice, n_tasks - start);
        parts.assign(n_parts * width, 0.0);
        support::parallel_for(n_parts, n_threads, interrupt, [&] {
            return [&, worker = make_worker()](std::size_t k) mutable {
                const std::uint64_t first = (start + k) % n_chunks * tasks.chunk;
                const std::uint64_t last = std::min(tasks.count, first + tasks.chunk);
                worker((start + k) / n_chunks, tasks.first + first, tasks.first + last,
                       parts.data() + k * width);
            };
        });
        for (std::size_t k = 0; k < n_parts; ++k)
            add((start + k) / n_chunks, parts.data() + k * width);
    }
}

}  // namespace localmdi::infinite
