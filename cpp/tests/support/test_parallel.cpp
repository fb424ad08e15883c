// Every task is done once, failures reach the caller as they are, and an interrupt ends the work
// soon.
#include "localmdi/support/parallel.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/check.hpp"

using namespace localmdi::support;
using Clock = std::chrono::steady_clock;

namespace {

void every_task_is_done_once() {
    for (const std::size_t n_threads : {0, 1, 2, 3, 8})
        for (const std::size_t n_tasks : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> done(n_tasks);
            std::atomic<std::size_t> n_workers{0};
            Interrupt interrupt;
            parallel_for(n_tasks, n_threads, interrupt, [&] {
                ++n_workers;
                return [&](std::size_t task) { ++done[task]; };
            });
            for (const auto& count : done) CHECK(count == 1);
            CHECK(n_workers <= std::max<std::size_t>(n_threads, 1) && n_workers <= n_tasks);
        }
}

// The first failure is what the caller gets, never the Interrupted of threads that stop because of
// it.
void failures_reach_the_caller() {
    for (int round = 0; round < 300; ++round)
        for (const std::size_t n_threads : {1, 3}) {
            Interrupt interrupt;
            std::atomic<int> running{0};
            bool caught = false;
            try {
                parallel_for(1000, n_threads, interrupt, [&] {
                    return [&](std::size_t task) {
                        ++running;
                        if (task == 5) {
                            --running;
                            throw std::runtime_error("task 5");
                        }
                        --running;
                    };
                });
            } catch (const std::runtime_error& error) {
                caught = std::string(error.what()) == "task 5";
            }
            CHECK(caught && running == 0);
        }
}

void a_worker_that_cannot_be_made() {
    Interrupt interrupt;
    bool caught = false;
    try {
        parallel_for(10, 2, interrupt,
                     []() -> std::function<void(std::size_t)> { throw std::bad_alloc(); });
    } catch (const std::bad_alloc&) {
        caught = true;
    }
    CHECK(caught);
}

bool interrupted(std::size_t n_tasks, std::size_t n_threads, Interrupt& interrupt,
                 const std::function<void(std::size_t)>& task) {
    try {
        parallel_for(n_tasks, n_threads, interrupt, [&] { return task; });
    } catch (const Interrupted&) {
        return true;
    }
    return false;
}

void work(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

void only_the_caller_polls_and_not_too_often() {
    const auto caller = std::this_thread::get_id();
    int polls = 0;
    Interrupt interrupt([&] {
        CHECK(std::this_thread::get_id() == caller);
        ++polls;
        return false;
    });
    const auto begin = Clock::now();
    CHECK(!interrupted(400, 3, interrupt, [](std::size_t) { work(std::chrono::milliseconds(2)); }));
    const auto time = Clock::now() - begin;
    CHECK(polls >= 1 && polls <= time / std::chrono::milliseconds(50) + 1);
}

void an_interrupt_stops_all_threads() {
    for (const std::size_t n_threads : {1, 3}) {
        std::atomic<std::size_t> done{0};
        Interrupt interrupt([] { return true; });
        CHECK(interrupted(100000, n_threads, interrupt, [&](std::size_t) {
            ++done;
            work(std::chrono::milliseconds(1));
        }));
        CHECK(done < 50000);
    }
}

// The caller has nothing left to do while another thread is busy: it must look for interrupts
// still.
void an_interrupt_is_seen_while_waiting() {
    const auto caller = std::this_thread::get_id();
    Interrupt interrupt([] { return true; });
    const auto begin = Clock::now();
    std::atomic<bool> other_started{false};
    CHECK(interrupted(2, 2, interrupt, [&](std::size_t) {
        if (std::this_thread::get_id() == caller) {
            while (!other_started) std::this_thread::yield();
            return;
        }
        other_started = true;
        while (Clock::now() - begin < std::chrono::seconds(20)) {
            interrupt.check();
            work(std::chrono::milliseconds(1));
        }
    }));
    CHECK(Clock::now() - begin < std::chrono::seconds(10));
}

// Even if no task looks again before it ends: whoever polled must hear of it.
void an_interrupt_is_not_lost() {
    const auto caller = std::this_thread::get_id();
    bool polled = false;
    Interrupt interrupt([&] { return polled = true; });
    const bool stopped = interrupted(2, 2, interrupt, [&](std::size_t) {
        if (std::this_thread::get_id() != caller) work(std::chrono::milliseconds(300));
    });
    CHECK(stopped == polled);
}

}  // namespace

int main() {
    every_task_is_done_once();
    failures_reach_the_caller();
    a_worker_that_cannot_be_made();
    only_the_caller_polls_and_not_too_often();
    an_interrupt_stops_all_threads();
    an_interrupt_is_seen_while_waiting();
    an_interrupt_is_not_lost();
}
