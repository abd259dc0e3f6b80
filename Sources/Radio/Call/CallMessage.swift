internal import TenfourAudioCore
internal import TenfourChannelKeys

/// A datagram of a call. All have 88 bytes, so that an answer is never longer than what it answers. Nothing in it is
/// authenticated.
struct CallMessage: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        /// The caller wants to talk. It comes again while it waits.
        case invitation = 1
        /// The callee's number, which depends on the caller's address.
        case challenge = 2
        /// The callee's person is being asked.
        case ringing = 3
        /// The callee's person wants to talk.
        case acceptance = 4
        /// The callee does not talk; `detail` says why.
        case refusal = 5
        /// The caller has heard of the acceptance.
        case confirmation = 6
        /// One of the two has hung up.
        case end = 7
        /// Asks whether a station is there.
        case probe = 8
        case probeReply = 9
    }

    var kind: Kind
    /// The reason of a refusal; zero in other messages.
    var detail: UInt8 = 0
    /// The number that the caller, or the one who asks, has drawn.
    var caller: UInt64
    /// The callee's number; zero while the caller does not know it.
    var callee: UInt64 = 0
    /// The sender's name, safe to display.
    var name = ""

    static let byteCount = 88
    static let firstByte = UInt8(ascii: "r")
    static let version: UInt8 = 1
    private static let nameOffset = 24
    static let maximumNameByteCount = byteCount - nameOffset

    init(_ kind: Kind, detail: UInt8 = 0, caller: UInt64, callee: UInt64 = 0, name: String = "") {
        self.kind = kind
        self.detail = detail
        self.caller = caller
        self.callee = callee
        self.name = MemberInfo.shown(name)
    }

    /// Nil for any other datagram, and for a message with a byte that this version does not allow.
    init?(parsing datagram: Span<UInt8>) {
        guard datagram.count == Self.byteCount, datagram[0] == Self.firstByte, datagram[1] == Self.version,
            let kind = Kind(rawValue: datagram[2]), datagram.isZero(in: 20..<Self.nameOffset)
        else { return nil }
        var end = Self.nameOffset
        while end < Self.byteCount, datagram[end] != 0 { end += 1 }
        guard datagram.isZero(in: end..<Self.byteCount) else { return nil }
        let name = String(fromPeer: datagram.extracting(Self.nameOffset..<end), limit: Self.maximumNameByteCount)
        self.init(
            kind, detail: datagram[3], caller: datagram.number(at: 4), callee: datagram.number(at: 12), name: name)
        if kind == .refusal {
            if CallRefusal(rawValue: detail) == nil { return nil }
        } else if detail != 0 {
            return nil
        }
    }

    var bytes: [UInt8] {
        [UInt8](capacity: Self.byteCount) { datagram in
            datagram.append(Self.firstByte)
            datagram.append(Self.version)
            datagram.append(kind.rawValue)
            datagram.append(detail)
            datagram.append(number: caller)
            datagram.append(number: callee)
            datagram.append(zeros: 4)
            for byte in name.utf8 { datagram.append(byte) }
            datagram.append(zeros: Self.maximumNameByteCount - name.utf8.count)
        }
    }
}

/// The reason why a station refuses a call.
public enum CallRefusal: UInt8, Sendable, CaseIterable {
    /// Its person declined.
    case declined = 1
    /// It is in another call.
    case busy = 2
    /// Its person did not answer.
    case notAnswered = 3
    /// It takes no calls.
    case takesNone = 4
}
