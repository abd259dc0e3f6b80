internal import Glibc

/// Lets the calling thread sleep. The C function is `usleep`.
func pause(_ time: Duration) { usleep(UInt32(max(time / .microseconds(1), 0))) }
