#include <alsa/asoundlib.h>
#include <pthread.h>
#include <stdio.h>

// alsa-lib prints errors to stderr through a handler with a `va_list`, which Swift cannot define portably. This handler
// stores the calling thread's last message instead; it neither allocates nor prints.

static inline char *calsa_explanation(void) {
    static _Thread_local char text[256];
    return text;
}

static inline void calsa_keep(const char *file, int line, const char *function, int code, const char *format,
                              va_list arguments) {
    (void)file, (void)line, (void)function, (void)code;
    vsnprintf(calsa_explanation(), 256, format, arguments);
}

/// Diverts alsa-lib's messages on the calling thread from stderr to `calsa_explanation`.
static inline void calsa_keep_explanations(void) {
    calsa_explanation()[0] = '\0';
    snd_lib_error_set_local(calsa_keep);
}

// pthread.h declares this for _GNU_SOURCE only, which Swift's Glibc does not define.
int pthread_setname_np(pthread_t thread, const char *name);

/// Makes the kernel map this many bytes of the calling thread's stack now, instead of during playback.
__attribute__((noinline, unused)) static void calsa_touch_stack(size_t byte_count) {
    volatile char *stack = __builtin_alloca(byte_count);
    for (size_t place = 0; place < byte_count; place += 4096) stack[place] = 0;
}

/// Names the calling thread; at most 15 bytes.
static inline int calsa_name_this_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }
