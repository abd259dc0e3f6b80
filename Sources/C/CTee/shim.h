/* tee(2), which Swift's Glibc module lacks as a Linux extension: copies from a pipe without consuming. */
#include <sys/types.h>

ssize_t tee(int from, int to, size_t count, unsigned int flags);
