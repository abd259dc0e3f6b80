#ifndef TENFOUR_ON_DEMAND_H
#define TENFOUR_ON_DEMAND_H

#include <dlfcn.h>

// A library that few commands need is opened by the first call that needs it, and never linked: linked, it would cost every
// command its time and memory at the start, and lie in the process that reads strangers' packets.
//
// TENFOUR_ON_DEMAND(tenfour_x, TENFOUR_X), where TENFOUR_X(F) is F(one_function) F(another_function) …, makes of them
// `struct tenfour_x`, which has each function under its own name and with the type that the library's header gives it, and
//
//     struct tenfour_x tenfour_x_open(const char *file, const char **failure)
//
// which opens `file` (`dlopen`) and looks the functions up in it and in what it depends on (`dlsym`). Where one is missing,
// `*failure` is why, until the thread's next `dlopen`, and no function may be called; else it is NULL. A library that is open
// stays open: others than us may have been given its functions.

#define TENFOUR_FUNCTION(name) __typeof__(name) *_Nonnull name;

#define TENFOUR_LOOK_UP(name) \
    if (!*failure && !(*(void **)&library.name = dlsym(handle, #name))) *failure = dlerror();

#define TENFOUR_ON_DEMAND(tag, FUNCTIONS) \
    struct tag { \
        FUNCTIONS(TENFOUR_FUNCTION) \
    }; \
    static inline struct tag tag##_open(const char *_Nonnull file, const char *_Nullable *_Nonnull failure) { \
        struct tag library = {0}; \
        void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL); \
        *failure = handle ? (const char *)0 : dlerror(); \
        FUNCTIONS(TENFOUR_LOOK_UP) \
        return library; \
    }

#endif
