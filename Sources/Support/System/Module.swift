// Threads, processes, files and sockets of Linux.
//
// By a ring buffer, a triple buffer with the latest value and a lock, threads exchange values. There are threads that run one
// closure, a pipe that wakes a thread, and a signal that ends one; programs that are started without a shell; files of mode
// 0600, and a wait for the disk; folders watched by inotify; Unix sockets. Audio threads are SoundCard's `AudioThread`. This
// module does not know the meaning of what it carries.
