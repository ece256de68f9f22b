// SPDX-License-Identifier: Apache-2.0
// wait_pool [SECONDS]: a pool of four threads whose jobs wait at many depths: for work, for a lock,
// and asleep. Built without frame pointers.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

using std::chrono::microseconds;

class Pool
{
  public:
    explicit Pool(int n)
    {
        for (int i = 0; i < n; i++)
            threads_.emplace_back([this] { run(); });
    }
    void add(std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            jobs_.push(std::move(job));
        }
        ready_.notify_one();
    }
    ~Pool()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            ends_ = true;
        }
        ready_.notify_all();
        for (auto &t : threads_)
            t.join();
    }

  private:
    void run()
    {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                ready_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
                if (jobs_.empty())
                    return;
                job = std::move(jobs_.front());
                jobs_.pop();
            }
            job();
        }
    }
    std::mutex mutex_;
    std::condition_variable ready_;
    std::queue<std::function<void()>> jobs_;
    bool ends_ = false;
    std::vector<std::thread> threads_;
};

static std::mutex shared;

static int deep(int n, const std::function<int()> &f)
{
    if (n == 0)
        return f();
    char pad[200];
    std::snprintf(pad, sizeof(pad), "%d", n);
    return deep(n - 1, f) + pad[0];
}

static int job(int i)
{
    if (i % 3) {
        std::lock_guard<std::mutex> guard(shared);
        std::this_thread::sleep_for(microseconds(300));
    } else {
        std::this_thread::sleep_for(microseconds(200));
    }
    return 1;
}

int main(int argc, char **argv)
{
    std::chrono::duration<double> seconds(argc > 1 ? std::atof(argv[1]) : 5);
    auto end = std::chrono::steady_clock::now() + seconds;
    Pool pool(4);
    for (int i = 0; std::chrono::steady_clock::now() < end; i++) {
        pool.add([i] { deep(i % 40, [i] { return job(i); }); });
        std::this_thread::sleep_for(microseconds(400));
    }
}
