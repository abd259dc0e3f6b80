internal import TenfourAudioCore
public import TenfourPackets

/// A member's name, microphone and SSRC, which it sends to the other members of the channel.
///
/// The info is sent as `SealedMemberInfo`, encrypted with a key that only members have. So relays forward the info, but
/// cannot read it. The wire format is in Protocol/06-control.md, section "Roster".
public struct MemberInfo: Hashable, Sendable {
    /// The name, safe to display, at most 64 bytes of UTF-8. Empty if the member hides its name.
    public let name: String
    public var microphone: Microphone
    /// The SSRC of the member's media.
    public var ssrc: SSRC
    /// The time at which the member joined the channel, by its own clock: seconds since 1970.
    public var joined: UInt32
    /// The time at which the member's microphone was last opened or closed, by the member's own clock: seconds since
    /// 1970.
    public var microphoneChanged: UInt32

    /// The state of a member's microphone.
    public enum Microphone: UInt8, Sendable, CaseIterable {
        /// The member only listens.
        case none = 0
        case closed = 1
        case open = 2
    }

    /// A `name` of more than 64 bytes is cut between two characters; control characters in the name are replaced by
    /// U+FFFD.
    public init(name: String, microphone: Microphone, ssrc: SSRC, joined: UInt32, microphoneChanged: UInt32) {
        self.name = Self.shown(name)
        self.microphone = microphone
        self.ssrc = ssrc
        self.joined = joined
        self.microphoneChanged = microphoneChanged
    }

    /// The maximum length of a name in bytes of UTF-8.
    public static let maximumNameByteCount = 64
    static let byteCount = 13 + maximumNameByteCount

    /// Returns `name` made safe to display: at most 64 bytes, control characters replaced by U+FFFD, no white space at
    /// its ends.
    public static func shown(_ name: String) -> String {
        var shown = ""
        var byteCount = 0
        for letter in String(fromPeer: name, limit: maximumNameByteCount).drop(while: \.isWhitespace) {
            byteCount += letter.utf8.count
            if byteCount > maximumNameByteCount { break }
            shown.append(letter)
        }
        while shown.last?.isWhitespace ?? false { shown.removeLast() }
        return shown
    }

    /// Parses a decrypted member info of 77 bytes; nil if a field has a value that this version of the protocol does
    /// not allow.
    init?(parsing bytes: Span<UInt8>) {
        guard bytes.count == Self.byteCount, let microphone = Microphone(rawValue: bytes[0]) else { return nil }
        var end = 13
        while end < bytes.count, bytes[end] != 0 { end += 1 }
        guard bytes.isZero(in: end..<bytes.count) else { return nil }
        let name = bytes.extracting(13..<end)
        self.init(
            name: String(fromPeer: name, limit: Self.maximumNameByteCount), microphone: microphone,
            ssrc: SSRC(bytes.number(at: 1)), joined: bytes.number(at: 5), microphoneChanged: bytes.number(at: 9))
    }

    /// Appends the info as 77 bytes. Zeros follow the name, so that the name's length is hidden.
    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(microphone.rawValue)
        bytes.append(number: ssrc.rawValue)
        bytes.append(number: joined)
        bytes.append(number: microphoneChanged)
        for byte in name.utf8 { bytes.append(byte) }
        bytes.append(zeros: Self.maximumNameByteCount - name.utf8.count)
    }
}

/// A member's encrypted info, 109 bytes, as it is sent and as a relay stores it.
///
/// A relay can read the id and the counter. The info itself is encrypted for the members of the channel.
public struct SealedMemberInfo: Sendable {
    /// A random number that identifies the member, not zero. The member generates it when it starts and keeps it until
    /// it stops.
    public let id: UInt64
    /// The number of infos that the member has encrypted under this id, including this one. It starts at 1.
    public let counter: UInt64
    private var sealed: InlineArray<93, UInt8>

    public static let byteCount = 109
    static let sealedByteCount = MemberInfo.byteCount + AEAD.tagByteCount

    /// Encrypts `info` for the members of a channel. The caller must never use the same `id` and `counter` for two
    /// infos.
    public init(_ info: MemberInfo, id: UInt64, counter: UInt64, under root: MediaRoot) {
        precondition(id > 0 && counter > 0, "zero is nobody's")
        self.id = id
        self.counter = counter
        sealed = InlineArray(repeating: 0)
        let data = Self.data(id, counter)
        let body = [UInt8](capacity: MemberInfo.byteCount) { info.write(into: &$0) }
        let bytes = [UInt8](capacity: Self.sealedByteCount) { output in
            root.memberInfoKey(of: id).withBytes {
                AEAD.seal(body.span, counter: counter, data: data.span, key: $0, into: &output)
            }
        }
        for index in bytes.indices { sealed[index] = bytes[index] }
    }

    /// Decrypts the info; nil if no member of the channel encrypted it under this id and counter.
    public func opened(under root: MediaRoot) -> MemberInfo? {
        var bytes = sealed
        var span = bytes.mutableSpan
        let data = Self.data(id, counter)
        guard
            root.memberInfoKey(of: id).withBytes({ AEAD.open(&span, counter: counter, data: data.span, key: $0) })
        else { return nil }
        return MemberInfo(parsing: bytes.span.extracting(..<MemberInfo.byteCount))
    }

    private static func data(_ id: UInt64, _ counter: UInt64) -> [UInt8] {
        [UInt8](capacity: 16) {
            $0.append(number: id)
            $0.append(number: counter)
        }
    }

    /// Reads an encrypted info from the 109 bytes at `offset`; `bytes` must contain them. Throws if the id or the
    /// counter is zero.
    init(parsing bytes: Span<UInt8>, at offset: Int) throws(ControlParseError) {
        id = bytes.number(at: offset)
        counter = bytes.number(at: offset + 8)
        sealed = InlineArray(repeating: 0)
        for index in 0..<Self.sealedByteCount { sealed[index] = bytes[offset + 16 + index] }
        guard id > 0, counter > 0 else { throw .value }
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: id)
        bytes.append(number: counter)
        bytes.append(sealed.span)
    }
}

extension SealedMemberInfo: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        guard left.id == right.id, left.counter == right.counter else { return false }
        for index in 0..<sealedByteCount where left.sealed[index] != right.sealed[index] { return false }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(counter)
    }
}
