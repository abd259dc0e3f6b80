// Counts the calls of glibc's allocator, for each thread. A malloc that the program defines replaces the library's for all
// libraries linked to the program.
#include "allocations.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>

static __thread unsigned long count;
static __thread long held;

unsigned long allocations_of_this_thread(void) { return count; }
long bytes_of_this_thread(void) { return held; }

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static void *taken(void *memory) {
    count++;
    if (memory) held += malloc_usable_size(memory);
    return memory;
}

void *malloc(size_t size) { return taken(__libc_malloc(size)); }
void *calloc(size_t number, size_t size) { return taken(__libc_calloc(number, size)); }
void *memalign(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }

void *realloc(void *memory, size_t size) {
    long former = memory ? malloc_usable_size(memory) : 0;
    void *grown = taken(__libc_realloc(memory, size));
    // Without memory for it, the former block stays, unless it was to be released.
    if (grown || !size) held -= former;
    return grown;
}

void free(void *memory) {
    count++;
    if (memory) held -= malloc_usable_size(memory);
    __libc_free(memory);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *aligned = taken(__libc_memalign(alignment, size));
    if (!aligned) return ENOMEM;
    *memory = aligned;
    return 0;
}

#endif
