// Threads that run one closure, and a pipe that wakes a thread from its sleep. For threads that may wait; audio threads
// are instances of `AudioThread`. This module does not know what the threads do.
