// The monotonic clock and the timeout of `poll`, for threads and processes that have no libuv loop. This module does not
// know what is timed.
