// Threads that live for one call (nothing survives a fork) and can be interrupted.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace localmdi::support {

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

// Asked between units of work by every thread; only the thread that made it calls `poll`, and not
// more often than every 50 ms.
class Interrupt {
public:
    explicit Interrupt(std::function<bool()> poll = {}) : poll_(std::move(poll)) {}

    bool stopped() {
        if (poll_ && std::this_thread::get_id() == owner_ &&
            !stopped_.load(std::memory_order_relaxed)) {
            const auto now = Clock::now();
            if (now >= next_) {
                next_ = now + kPause;
                if (poll_()) stop();
            }
        }
        return stopped_.load(std::memory_order_relaxed);
    }
    void check() {
        if (stopped()) throw Interrupted();
    }
    void stop() { stopped_.store(true, std::memory_order_relaxed); }

    static constexpr std::chrono::milliseconds kPause{50};

private:
    using Clock = std::chrono::steady_clock;
    std::function<bool()> poll_;
    std::thread::id owner_ = std::this_thread::get_id();
    Clock::time_point next_ = Clock::now() + kPause;
    std::atomic<bool> stopped_{false};
};

// Calls make_worker() once per thread and worker(task) for every task in [0, n_tasks); tasks are
// taken from a counter, so a result must not depend on which thread takes which. The first
// exception is rethrown when all threads have ended.
template <class MakeWorker>
void parallel_for(std::size_t n_tasks, std::size_t n_threads, Interrupt& interrupt,
                  MakeWorker make_worker) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto work = [&] {
        try {
            auto worker = make_worker();
            for (std::size_t task; (task = next.fetch_add(1)) < n_tasks;) {
                interrupt.check();
                worker(task);
            }
        } catch (...) {
            // Kept before the others stop for it, so that it comes before their Interrupted.
            const std::lock_guard<std::mutex> lock(failure_lock);
            if (!failure) failure = std::current_exception();
            interrupt.stop();
        }
    };
    n_threads = std::min(std::max<std::size_t>(n_threads, 1), n_tasks);
    std::vector<std::future<void>> others;
    for (std::size_t k = 1; k < n_threads; ++k) {
        try {
            others.push_back(std::async(std::launch::async, work));
        } catch (const std::system_error&) {
            break;  // the machine gives no more threads; those that run do the work
        }
    }
    if (n_tasks > 0) work();
    for (auto& other : others)
        while (other.wait_for(Interrupt::kPause) != std::future_status::ready) interrupt.stopped();
    others.clear();
    if (failure) std::rethrow_exception(failure);
    interrupt.check();
}

}  // namespace localmdi::support
