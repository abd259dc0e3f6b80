internal import CShout
internal import Glibc

/// Asks an Icecast server whether a mount point has a source. libshout reports a refused password and an occupied mount
/// point by the same error.
enum MountProbe {
    /// Returns whether another source feeds the mount point: a request for it is not answered with 404. Waits at most
    /// two seconds. Returns false if the server cannot be asked, or only over an encrypted connection.
    static func isOccupied(_ settings: IcecastSettings) -> Bool {
        guard !settings.usesTLS, let socket = connected(to: settings) else { return false }
        defer { close(socket) }
        let request = Array("GET \(settings.mount) HTTP/1.0\r\nHost: \(settings.host)\r\n\r\n".utf8)
        guard unsafe send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            return false
        }
        // A server answers 404 at once, but 200 only after the source has sent its first page.
        var answer = [UInt8](repeating: 0, count: 64)
        let count = unsafe recv(socket, &answer, answer.count, 0)
        if count < 0 { return errno == EAGAIN }
        let words = String(decoding: answer.prefix(count), as: UTF8.self).split(separator: " ")
        return words.count > 1 && words[1] == "200"
    }

    /// Returns a socket that the caller must close.
    private static func connected(to settings: IcecastSettings) -> Int32? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(settings.host, "\(settings.port)", &hints, &list) == 0 else { return nil }
        defer { unsafe freeaddrinfo(list) }
        var next = unsafe list
        while let address = unsafe next {
            let one = unsafe address.pointee
            let socket = unsafe socket(one.ai_family, one.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
            var patience = timeval(tv_sec: 2, tv_usec: 0)
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                unsafe setsockopt(socket, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
            }
            if socket >= 0, unsafe connect(socket, one.ai_addr, one.ai_addrlen) == 0 { return socket }
            if socket >= 0 { close(socket) }
            unsafe next = one.ai_next
        }
        return nil
    }
}
