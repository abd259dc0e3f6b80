/* Fails to compile if the declarations in Sources/C/CGPIOD/shim.h are not those of <gpiod.h> of libgpiod 1.6. A second declaration of a
   function must be the same as the first. */
#include <gpiod.h>
#include <stddef.h>

/* Words of Clang. */
#define _Nonnull
#define _Nullable
#define CGPIOD_HAS_STRUCTURES
#include "../../../Sources/C/CGPIOD/shim.h"

_Static_assert(CGPIOD_EVENT_BOTH_EDGES == GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES, "both edges");
_Static_assert(CGPIOD_ACTIVE_LOW == GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW, "active low");
_Static_assert(CGPIOD_BIAS_DISABLE == GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE, "no bias");
_Static_assert(CGPIOD_PULL_DOWN == GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN, "pull down");
_Static_assert(CGPIOD_PULL_UP == GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP, "pull up");
_Static_assert(CGPIOD_RISING_EDGE == GPIOD_LINE_EVENT_RISING_EDGE, "rising edge");

/* The structures of shim.h under other names. */
struct config {
    const char *consumer;
    int request_type;
    int flags;
};
struct event {
    struct timespec ts;
    int event_type;
};
#define CHECK(ours, theirs, member) \
    _Static_assert(offsetof(struct ours, member) == offsetof(struct theirs, member), #member); \
    _Static_assert(sizeof(struct ours) == sizeof(struct theirs), #theirs)
CHECK(config, gpiod_line_request_config, consumer);
CHECK(config, gpiod_line_request_config, request_type);
CHECK(config, gpiod_line_request_config, flags);
CHECK(event, gpiod_line_event, ts);
CHECK(event, gpiod_line_event, event_type);
