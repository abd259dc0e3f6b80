import Glibc

/// Returns the name of the Debian package with `libcurl.so.4`: libcurl4t64 since Debian 13 and Ubuntu 24.04, which
/// rebuilt it for 64-bit times; libcurl4 in earlier releases. The releases with libcurl4t64 have glibc 2.39 or later;
/// earlier releases have an older glibc.
///
/// `libc` is glibc's version as returned by `confstr`, such as "glibc 2.36".
func curlPackage(libc: String = installedLibc()) -> String {
    let version = libc.split { !$0.isNumber }.compactMap { Int($0) }
    return version.lexicographicallyPrecedes([2, 39]) ? "libcurl4" : "libcurl4t64"
}

/// Returns glibc's version. The C function is `confstr`.
private func installedLibc() -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
        let count = unsafe confstr(Int32(_CS_GNU_LIBC_VERSION), text.baseAddress, text.count)
        guard (1...text.count).contains(count) else { return "" }
        return unsafe String(cString: text.baseAddress!)
    }
}
