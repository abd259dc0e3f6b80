// Threads that run one closure, and a pipe that wakes a thread from its sleep. For threads that may wait; audio threads
// are `AudioThread`s. This module does not know what the threads do.
