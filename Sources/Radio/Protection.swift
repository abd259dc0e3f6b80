internal import Keys

/// What stands between the station, which knows of no keys, and the network: nothing, or what makes datagrams unreadable on
/// their way. Network thread.
enum Protection: ~Copyable {
    /// Standard RTP as it is.
    case plain
    /// SRTP under a key that the other end was given, too.
    case srtp(StaticSRTP)

    /// `key` protects, where there is one.
    init(_ key: SRTPMasterKey?) throws(SRTPError) {
        if let key { self = .srtp(try StaticSRTP(key)) } else { self = .plain }
    }

    /// Whether datagrams go out and come in as they are.
    var isPlain: Bool {
        switch self {
        case .plain: true
        case .srtp: false
        }
    }

    /// What the station wants to send becomes what goes out, where it is. False when nothing is to go out.
    mutating func protect(_ datagram: inout OutputSpan<UInt8>) -> Bool {
        switch consume self {
        case .plain:
            self = .plain
            return true
        case .srtp(var srtp):
            let isProtected: Bool
            do throws(SRTPError) {
                try srtp.protect(&datagram)
                isProtected = true
            } catch {
                isProtected = false
            }
            self = .srtp(srtp)
            return isProtected
        }
    }

    /// What has come becomes what the station takes, where it is: so many bytes of it. Nil for what is not from who has the key.
    mutating func open(_ datagram: inout MutableSpan<UInt8>) -> Int? {
        switch consume self {
        case .plain:
            self = .plain
            return datagram.count
        case .srtp(var srtp):
            let byteCount: Int?
            do throws(SRTPError) { byteCount = try srtp.unprotect(&datagram) } catch { byteCount = nil }
            self = .srtp(srtp)
            return byteCount
        }
    }
}
