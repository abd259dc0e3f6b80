/// Returns the number of allocations and releases by the calling thread so far. Returns zero under a sanitizer, which has an
/// allocator of its own.
unsigned long allocations_of_this_thread(void);
