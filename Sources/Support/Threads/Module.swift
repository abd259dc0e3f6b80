// Threads that run one closure, a pipe that wakes a thread from its sleep, and a signal that ends one. For threads that
// may wait; audio threads are instances of `AudioThread`. This module does not know what the threads do.
