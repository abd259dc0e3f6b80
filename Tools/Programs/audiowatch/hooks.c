/* The functions that replace those of the C library. */
#define _GNU_SOURCE
#include "audiowatch.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

/* ---- Memory ---------------------------------------------------------------------------------------------------------- */

/* glibc's own names for its allocator: no look-up is needed, which would itself allocate. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    count(ALLOCATION, false, CALLER);
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
        return EINVAL;
    void *result = __libc_memalign(alignment, size);
    if (result == NULL)
        return ENOMEM;
    *memory = result;
    return 0;
}

void free(void *memory)
{
    if (memory != NULL)
        count(RELEASE, false, CALLER);
    __libc_free(memory);
}

/* ---- Locks ----------------------------------------------------------------------------------------------------------- */

/* The next definition of a function, looked up at its first use (which may be before our constructor has run). */
static void *next(_Atomic(void *) *cache, const char *name, const char *version)
{
    void *found = atomic_load_explicit(cache, memory_order_acquire);
    if (found != NULL)
        return found;
    bool was_inside = inside;
    inside = true;
    if (version != NULL)
        found = dlvsym(RTLD_NEXT, name, version); /* x86 also has an older, incompatible condition variable */
    if (found == NULL)
        found = dlsym(RTLD_NEXT, name);
    inside = was_inside;
    if (found == NULL)
        abort();
    atomic_store_explicit(cache, found, memory_order_release);
    return found;
}

#define NEXT(function) ({ static _Atomic(void *) cache; (__typeof__(&function))next(&cache, #function, NULL); })
#define NEXT_VERSION(function, version) ({ static _Atomic(void *) cache; (__typeof__(&function))next(&cache, #function, version); })

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int error = NEXT(pthread_mutex_trylock)(mutex);
    count(LOCK, error == EBUSY, CALLER);
    return error;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (mine == NULL && seen_namings == atomic_load_explicit(&namings, memory_order_relaxed))
        return NEXT(pthread_mutex_lock)(mutex); /* a thread that is not watched locks as usual */
    int error = NEXT(pthread_mutex_trylock)(mutex);
    count(LOCK, error == EBUSY, CALLER);
    return error == EBUSY ? NEXT(pthread_mutex_lock)(mutex) : error;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    int error = NEXT(pthread_rwlock_tryrdlock)(lock);
    count(LOCK, error == EBUSY, CALLER);
    return error == 0 ? 0 : NEXT(pthread_rwlock_rdlock)(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    int error = NEXT(pthread_rwlock_trywrlock)(lock);
    count(LOCK, error == EBUSY, CALLER);
    return error == 0 ? 0 : NEXT(pthread_rwlock_wrlock)(lock);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    int error = NEXT(pthread_rwlock_tryrdlock)(lock);
    count(LOCK, error == EBUSY, CALLER);
    return error;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    int error = NEXT(pthread_rwlock_trywrlock)(lock);
    count(LOCK, error == EBUSY, CALLER);
    return error;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    count(WAIT, false, CALLER);
    return NEXT_VERSION(pthread_cond_wait, "GLIBC_2.3.2")(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    count(WAIT, false, CALLER);
    return NEXT_VERSION(pthread_cond_timedwait, "GLIBC_2.3.2")(condition, mutex, until);
}

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex)
        count(FUTEX, true, CALLER);
    return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- Names ----------------------------------------------------------------------------------------------------------- */

/* A thread that names itself is recorded from here on, even if it never makes a counted call. */
static void someone_was_named(bool oneself)
{
    atomic_fetch_add_explicit(&namings, 1, memory_order_release);
    if (oneself && atomic_load_explicit(&settings.ready, memory_order_acquire)) {
        inside = true;
        look_at_own_name();
        inside = false;
    }
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    int error = NEXT(pthread_setname_np)(thread, name);
    someone_was_named(pthread_equal(thread, pthread_self()));
    return error;
}

int prctl(int operation, ...)
{
    unsigned long a[4];
    va_list list;
    va_start(list, operation);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    int result = NEXT(prctl)(operation, a[0], a[1], a[2], a[3]);
    if (operation == PR_SET_NAME)
        someone_was_named(true);
    return result;
}

int dlclose(void *library)
{
    (void)library;
    return 0;
}
