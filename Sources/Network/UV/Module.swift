// The event loop, its timers and its UDP sockets, over libuv: everything that waits, and the only place that asks what time it is.
// This module never takes a decision about a protocol: it carries bytes, times and errors to its caller.
