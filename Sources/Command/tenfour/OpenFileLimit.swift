import Glibc

/// The limit on the files, sockets included, that this process may open.
enum OpenFileLimit {
    /// Raises the limit to the highest that the system grants without rights: a relay needs a socket for each talker and
    /// for each listener over HTTP, and 1024, the usual limit, suits programs that use select(2). The C function is
    /// `setrlimit`.
    static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        // The relay works with the old limit, too, if a sandbox forbids this.
        unsafe setrlimit(resource, &limit)
    }
}
