/// How often the calling thread has asked the allocator for memory or given some back, since it began. Zero under a
/// sanitizer, which has an allocator of its own.
unsigned long allocations_of_this_thread(void);
