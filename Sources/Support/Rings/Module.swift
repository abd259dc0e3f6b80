// Ways for threads to exchange values: a ring buffer with one producer and one consumer, and a triple buffer that
// passes the latest value, both without waiting; for threads that may wait, a lock. This module does not know the
// meaning of the values.
