// Counts the calls of glibc's allocator, for each thread. A malloc that the program defines replaces the library's for all
// libraries linked to the program.
#include "allocations.h"

#include <errno.h>
#include <stddef.h>

static __thread unsigned long count;

unsigned long allocations_of_this_thread(void) { return count; }

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *malloc(size_t size) { return count++, __libc_malloc(size); }
void *calloc(size_t number, size_t size) { return count++, __libc_calloc(number, size); }
void *realloc(void *memory, size_t size) { return count++, __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { return count++, __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return count++, __libc_memalign(alignment, size); }
void free(void *memory) { count++, __libc_free(memory); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count++;
    void *taken = __libc_memalign(alignment, size);
    if (!taken) return ENOMEM;
    *memory = taken;
    return 0;
}

#endif
