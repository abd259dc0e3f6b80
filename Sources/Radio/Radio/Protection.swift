internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// A stage between the RTP session, which has no keys, and the network. It encrypts and decrypts, or passes plain RTP
/// unchanged. Like the session, it receives datagrams and times, and returns datagrams, decrypted packets and a
/// deadline.
///
/// After each input, call `nextOpened` and then `nextDatagram`, each until it returns nil; then sleep until
/// `nextDeadline`. Use it on the network thread only.
protocol Protection: AnyObject {
    /// Receives a datagram from the network. Returns false if it was not encrypted with the keys of this stage.
    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool

    /// Encrypts a datagram of the RTP session, and queues it for `nextDatagram`.
    func send(_ datagram: Span<UInt8>, to destination: RTPSession.Destination, at now: Instant)

    /// Does the work that is due at `nextDeadline`. Does nothing before that time.
    func timeElapsed(at now: Instant)

    /// Appends the next decrypted packet for the RTP session to `packet`; returns its sender, or nil if no packet is
    /// left.
    func nextOpened(into packet: inout OutputSpan<UInt8>) -> Endpoint?

    /// Appends the next outgoing datagram to `datagram`; returns its destination, or nil if no datagram is left.
    func nextDatagram(into datagram: inout OutputSpan<UInt8>) -> RTPSession.Destination?

    /// The latest time at which `timeElapsed` must be called; nil if no work is due.
    var nextDeadline: Instant? { get }
}

/// Standard RTP without protection.
final class PlainLine: Protection {
    private var opened = DatagramQueue()
    private var outbox = DatagramQueue()

    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool {
        opened.put(datagram, to: sender)
        return true
    }

    func send(_ datagram: Span<UInt8>, to destination: RTPSession.Destination, at now: Instant) {
        outbox.put(datagram, to: destination)
    }

    func timeElapsed(at now: Instant) {}

    func nextOpened(into packet: inout OutputSpan<UInt8>) -> Endpoint? { opened.next(into: &packet) }

    func nextDatagram(into datagram: inout OutputSpan<UInt8>) -> RTPSession.Destination? {
        outbox.nextDestination(into: &datagram)
    }

    var nextDeadline: Instant? { nil }
}

/// SRTP in both directions, with one key that both ends have.
final class SRTPLine: Protection {
    private var srtp: StaticSRTP
    private var opened = DatagramQueue()
    private var outbox = DatagramQueue()
    private var bytes: [UInt8] = []

    /// The maximum length of a datagram, sent or received, in bytes.
    private static let maximumByteCount = 2_048

    init(_ key: SRTPMasterKey) throws(SRTPError) {
        srtp = try StaticSRTP(key)
        bytes.reserveCapacity(Self.maximumByteCount)
    }

    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool {
        guard datagram.count <= Self.maximumByteCount else { return false }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(addingCapacity: datagram.count) { bytes in
            for index in datagram.indices { bytes.append(datagram[index]) }
        }
        guard let byteCount = unprotect() else { return false }
        let unprotected = bytes
        opened.put(unprotected.span.extracting(first: byteCount), to: sender)
        return true
    }

    func send(_ datagram: Span<UInt8>, to destination: RTPSession.Destination, at now: Instant) {
        outbox.put(capacity: Self.maximumByteCount, to: destination) { output in
            for index in datagram.indices { output.append(datagram[index]) }
            do throws(SRTPError) { try srtp.protect(&output) } catch { output.removeAll() }
        }
    }

    func timeElapsed(at now: Instant) {}

    func nextOpened(into packet: inout OutputSpan<UInt8>) -> Endpoint? { opened.next(into: &packet) }

    func nextDatagram(into datagram: inout OutputSpan<UInt8>) -> RTPSession.Destination? {
        outbox.nextDestination(into: &datagram)
    }

    var nextDeadline: Instant? { nil }

    private func unprotect() -> Int? {
        var span = bytes.mutableSpan
        do throws(SRTPError) { return try srtp.unprotect(&span) } catch { return nil }
    }
}

extension NetworkLoop {
    /// Makes the protection that the configuration wants; the second is the same one if it is a channel's.
    static func protection(
        _ configuration: RadioConfiguration, ssrc: SSRC, local: Endpoint, at now: Instant
    ) throws(RadioError) -> (any Protection, ChannelLine?) {
        switch configuration.protection {
        case .none: return (PlainLine(), nil)
        case .srtp(let key):
            do throws(SRTPError) { return (try SRTPLine(key), nil) } catch {
                throw RadioError(.failure, error.description)
            }
        case .channel(let settings):
            let line = ChannelLine(
                settings, configuration.coding, configuration.floor, ssrc: ssrc, local: local, at: now)
            return (line, line)
        }
    }
}
