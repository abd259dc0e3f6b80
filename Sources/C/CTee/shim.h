/* tee of the C library, which Swift's Glibc module leaves out as an extension of Linux: it looks into a pipe and takes nothing. */
#include <sys/types.h>

ssize_t tee(int from, int to, size_t count, unsigned int flags);
