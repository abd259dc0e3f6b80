/* timerfd_create and timerfd_settime of the C library, which Swift's Glibc module leaves out. */
#include <sys/timerfd.h>
