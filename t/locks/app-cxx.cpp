/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of C++: each for a thread that has what is wanted for 20 ms. Prints how many there were. */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace app
{
static std::mutex table;
}
using app::table;
static std::shared_mutex shared;
static std::timed_mutex timed;
static std::condition_variable ready;
static bool is_ready;
static std::atomic<int> step;

static void pass()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

static void until(int n)
{
	while (step < n)
		std::this_thread::yield();
}

static void other()
{
	{
		std::lock_guard<std::mutex> have(table);
		step = 1;
		pass();
	}
	until(2);
	{
		std::unique_lock<std::shared_mutex> have(shared);
		step = 3;
		pass();
	}
	until(4);
	{
		std::lock_guard<std::timed_mutex> have(timed);
		step = 5;
		pass();
	}
	until(6);
	pass();
	{
		std::lock_guard<std::mutex> have(table);
		is_ready = true;
	}
	ready.notify_one();
	until(7);
	pass();
}

int main()
{
	std::thread t(other);
	int waits = 0;

	until(1);
	table.lock();
	table.unlock();
	waits++;
	step = 2;
	until(3);
	shared.lock_shared();
	shared.unlock_shared();
	waits++;
	step = 4;
	until(5);
	waits += timed.try_lock_for(std::chrono::seconds(20));
	timed.unlock();
	{
		std::unique_lock<std::mutex> have(table);

		step = 6;
		ready.wait(have, [] { return is_ready; });
		waits++;
		is_ready = false;
		waits += ready.wait_for(have, std::chrono::milliseconds(1)) ==
			 std::cv_status::timeout;
	}
	step = 7;
	t.join();
	waits++;
	std::cout << waits << " waits\n";
	return 0;
}
