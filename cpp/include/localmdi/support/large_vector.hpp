// Vectors of many megabytes, walked at random: asked to lie in huge pages where the system has
// them, because most of the time would otherwise go into page faults and address translation.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace localmdi::support {

template <class T>
struct LargeAllocator {
    using value_type = T;
    static constexpr std::size_t kHugePage = std::size_t{1} << 21;
    static constexpr std::size_t kCacheLine = 64;

    LargeAllocator() = default;
    template <class U>
    LargeAllocator(const LargeAllocator<U>&) {}

    T* allocate(std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        void* const place = ::operator new(bytes, alignment(bytes));
#ifdef __linux__
        if (bytes >= kHugePage) madvise(place, bytes, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(place);
    }
    void deallocate(T* place, std::size_t n) { ::operator delete(place, alignment(n * sizeof(T))); }
    // Every element is written before it is read: no need to zero them first.
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Args>
    void construct(U* place, Args&&... args) {
        ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
    }

    bool operator==(const LargeAllocator&) const = default;

private:
    // Vectors of a processor that cross a cache line cost twice.
    static std::align_val_t alignment(std::size_t bytes) {
        return std::align_val_t{bytes < kHugePage ? kCacheLine : kHugePage};
    }
};

// Elements that resize() adds are NOT initialised.
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace localmdi::support
