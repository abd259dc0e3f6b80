// Two ways for threads to meet without waiting: a ring with two owned ends, and the latest of a value. And one for threads that
// may wait: a lock.
// This room never knows what it carries.
