// Threads, processes, files and sockets of Linux, for all modules that wait: a ring buffer with one producer and one consumer, a
// triple buffer that passes the latest value, and a lock, by which threads exchange values; threads that run one closure,
// a pipe that wakes a thread, and a signal that ends one; programs that are started without a shell; files of mode 0600,
// and a wait for the disk; a folder watched by inotify; Unix sockets. Audio threads are instances of `AudioThread`. This
// module does not know the meaning of what it carries.
