#include <alsa/asoundlib.h>
#include <pthread.h>
#include <stdio.h>

// alsa-lib explains a failure on stderr, through a handler with a `va_list`, which Swift cannot define portably. The one
// below keeps the last explanation of the calling thread instead; it never allocates and never prints.

static inline char *calsa_explanation(void) {
    static _Thread_local char text[256];
    return text;
}

static inline void calsa_keep(const char *file, int line, const char *function, int code, const char *format,
                              va_list arguments) {
    (void)file, (void)line, (void)function, (void)code;
    vsnprintf(calsa_explanation(), 256, format, arguments);
}

/// From here on alsa-lib tells the calling thread's troubles to `calsa_explanation` and not to stderr.
static inline void calsa_keep_explanations(void) {
    calsa_explanation()[0] = '\0';
    snd_lib_error_set_local(calsa_keep);
}

// pthread.h hides this from whoever does not define _GNU_SOURCE first, as Swift's Glibc does not.
int pthread_setname_np(pthread_t thread, const char *name);

/// Has the kernel map the calling thread's stack, so many bytes deep, now and not in the middle of a period.
__attribute__((noinline, unused)) static void calsa_touch_stack(size_t byte_count) {
    volatile char *stack = __builtin_alloca(byte_count);
    for (size_t place = 0; place < byte_count; place += 4096) stack[place] = 0;
}

/// At most 15 bytes of a name for the calling thread.
static inline int calsa_name_this_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }
