// Ways for threads to exchange values. Without waiting: a ring buffer with one producer and one consumer, and the latest of a
// value. For threads that may wait: a lock. This module does not know the meaning of the values.
