#ifndef TENFOUR_ON_DEMAND_H
#define TENFOUR_ON_DEMAND_H

#include <dlfcn.h>

// Loads a library that few commands need on its first use instead of linking it. Linking would cost every command start-up
// time and memory, and add the library to the process that parses packets of strangers.
//
// TENFOUR_ON_DEMAND(tenfour_x, TENFOUR_X), where TENFOUR_X(F) is F(one_function) F(another_function) …, defines
// `struct tenfour_x` with a member for each function, of the type in the library's header, and
//
//     struct tenfour_x tenfour_x_open(const char *file, const char **failure)
//
// which loads `file` (`dlopen`) and looks the functions up in it and its dependencies (`dlsym`). If the file or a
// function is missing, `*failure` is the reason, valid until the thread's next `dlopen`, and no function may be called.
// If nothing is missing, `*failure` is NULL. The library is never unloaded, because other code may hold its functions.

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
