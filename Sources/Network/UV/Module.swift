// The event loop, its timers and its UDP sockets, over libuv. This is the only module that waits, and the only one that
// reads a clock. It decides nothing about a protocol: it passes bytes, times and errors to its caller.
