// Counts the calls of `fsync`, for each thread, and lets them fail. A fsync that the program defines replaces the library's. It
// does not wait for the disk, since the files of a test need not survive a power cut.
#include "syncs.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread unsigned long count;
static __thread int failure;

unsigned long syncs_of_this_thread(void) { return count; }

void fail_syncs_of_this_thread(int code) { failure = code; }

int fsync(int file) {
    struct stat status;
    count++;
    if (failure) {
        errno = failure;
        return -1;
    }
    if (fstat(file, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) return 0;
    return (int)syscall(SYS_fsync, file);
}
