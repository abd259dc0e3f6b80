internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// What stands between the station, which knows of no keys, and the network: nothing, or what makes datagrams unreadable on
/// their way. Network thread.
enum Protection {
    /// Standard RTP as it is.
    case plain
    /// SRTP under a key that the other end was given, too.
    case srtp(SRTPLine)
    /// A channel, by a relay or by answering its members ourselves.
    case channel(ChannelLine)

    typealias Hand = (Span<UInt8>, Endpoint) -> Void
    typealias Send = (Span<UInt8>, RTPSession.Destination) -> Void

    /// Hands the station what a datagram has become. False for what is not from who has the key.
    func receive(
        _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, hand: Hand, send: Send
    ) -> Bool {
        switch self {
        case .plain:
            hand(datagram, sender)
            return true
        case .srtp(let line): return line.open(datagram) { hand($0, sender) }
        case .channel(let line): return line.receive(datagram, from: sender, at: now, hand: hand, send: send)
        }
    }

    /// Sends what the station wants to send, made what may go out. `datagram` has room for what protects it.
    func send(
        _ datagram: inout OutputSpan<UInt8>, to destination: RTPSession.Destination, at now: Instant, _ send: Send
    ) {
        switch self {
        case .plain: send(datagram.span, destination)
        case .srtp(let line): if line.protect(&datagram) { send(datagram.span, destination) }
        case .channel(let line): line.send(datagram.span, isControl: destination.isControl, at: now)
        }
    }

    var channel: ChannelLine? {
        if case .channel(let line) = self { line } else { nil }
    }
}

/// SRTP under one key, both ways.
final class SRTPLine {
    private var srtp: StaticSRTP
    private var bytes: [UInt8] = []

    /// In bytes: no datagram of ours or another's is longer.
    private static let room = 2_048

    init(_ key: SRTPMasterKey) throws(SRTPError) {
        srtp = try StaticSRTP(key)
        bytes.reserveCapacity(Self.room)
    }

    func protect(_ datagram: inout OutputSpan<UInt8>) -> Bool {
        do throws(SRTPError) { try srtp.protect(&datagram) } catch { return false }
        return true
    }

    func open(_ datagram: Span<UInt8>, _ hand: (Span<UInt8>) -> Void) -> Bool {
        guard datagram.count <= Self.room else { return false }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(addingCapacity: datagram.count) { bytes in
            for index in datagram.indices { bytes.append(datagram[index]) }
        }
        guard let byteCount = unprotect() else { return false }
        let opened = bytes
        hand(opened.span.extracting(first: byteCount))
        return true
    }

    private func unprotect() -> Int? {
        var span = bytes.mutableSpan
        do throws(SRTPError) { return try srtp.unprotect(&span) } catch { return nil }
    }
}
