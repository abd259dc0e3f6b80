/// Returns the number of calls of `fsync` by the calling thread so far.
unsigned long syncs_of_this_thread(void);

/// Lets `fsync` fail on the calling thread with this errno; 0 lets it succeed again.
void fail_syncs_of_this_thread(int code);
