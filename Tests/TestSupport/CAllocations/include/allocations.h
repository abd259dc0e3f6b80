/// Returns the number of allocations and releases by the calling thread so far. Returns zero under a sanitizer, which has an
/// allocator of its own.
unsigned long allocations_of_this_thread(void);

/// Returns the number of bytes that the calling thread has allocated and not released. What it has released of other threads'
/// memory counts as negative. Returns zero under a sanitizer.
long bytes_of_this_thread(void);
