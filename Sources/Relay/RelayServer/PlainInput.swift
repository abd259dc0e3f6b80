internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets
internal import TenfourRelayCore
internal import TenfourSession
internal import TenfourUV

/// A socket that receives RTP for a plain channel.
final class PlainInput {
    let localEndpoint: Endpoint
    private(set) var received = 0
    private(set) var receivedByteCount = 0
    private(set) var discards: [PlainDiscard: Int] = [:]
    /// The payload type of the latest packet of Opus or of a static type; nil before the first.
    private(set) var payloadType: UInt8?
    var statistics: SocketStatistics { socket.statistics }

    private let socket: UDPSocket
    private let from: IPAddress?
    private var packets: TokenBucket
    private var bits: TokenBucket
    private var unnamedStreams = UnnamedStreams()

    /// The dynamic payload types that need no recognition: those of tenfour and PulseAudio for Opus.
    private static let knownTypes: Set<UInt8> = [RTPDefaults.opusPayloadType, 127]

    /// Opens the socket, and passes each accepted packet to `forward`. Throws if the port cannot be bound.
    init(
        _ input: PlainChannel.Input, _ limits: PlainChannel.Limits, on loop: EventLoop,
        forward: @escaping (Span<UInt8>) -> Void
    ) throws(NetworkError) {
        var options = SocketOptions()
        options.receiveBufferSize = relayBufferByteCount
        options.longestDatagram = Relay.maximumMediaByteCount
        options.sendQueueCapacity = 1
        socket =
            input.bind.address.isMulticast
            ? try UDPSocket(on: loop, joining: input.bind, interface: nil, options: options)
            : try UDPSocket(on: loop, bindingTo: input.bind, options: options)
        localEndpoint = socket.localEndpoint
        from = input.from
        // Limits the rates with a burst of half a second, so that a sender can catch up after a delay.
        packets = TokenBucket(perSecond: Double(limits.packetsPerSecond), most: Double(limits.packetsPerSecond) / 2)
        bits = TokenBucket(perSecond: Double(limits.bitsPerSecond), most: Double(limits.bitsPerSecond) / 2)
        socket.receive { [unowned self] datagram, sender, now in
            if let reason = reasonToDiscard(datagram, from: sender, at: now) {
                discards[reason, default: 0] += 1
            } else {
                received += 1
                receivedByteCount += datagram.count
                readPayloadType(datagram, from: sender, at: now)
                forward(datagram)
            }
        }
    }

    func close() { socket.close() }

    /// Sets the payload type to that of the packet, unless the packet may be one of another codec, or an event.
    private func readPayloadType(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        let type = datagram[1] & 0x7F
        guard type != payloadType, let header = try? RTPHeader(parsing: datagram) else { return }
        // A static type names its codec, which may be another one. Comfort noise accompanies one.
        let isStatic = type < 96 && type != RTPDefaults.comfortNoisePayloadType
        let isKnown =
            isStatic || Self.knownTypes.contains(type) || unnamedStreams.isOpus(header, type, from: sender)
            || unnamedStreams.insert(
                header, type, datagram.extracting(header.payload), from: sender, isHeard: false, recognises: true,
                at: now)
                == .opus
        if isKnown { payloadType = type }
    }

    private func reasonToDiscard(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> PlainDiscard? {
        if let from, sender.address != from { return .stranger }
        if datagram.count > 1, datagram[0] >> 6 == 2, RTCPCompound.isRTCP(secondByte: datagram[1]) { return .control }
        guard (try? RTPHeader(parsing: datagram)) != nil else { return .malformed }
        guard packets.spend(1, at: now), bits.spend(Double(datagram.count * 8), at: now) else { return .tooMuch }
        return nil
    }
}

/// The send and receive buffer sizes that are requested from the kernel, in bytes. The kernel grants at most
/// `net.core.wmem_max` and `net.core.rmem_max`.
let relayBufferByteCount = 4 << 20

/// The longest datagram that the relay receives, in bytes: a media packet that fits into an Ethernet frame, and the hop
/// tag, which is not forwarded.
let longestDatagram = Relay.maximumMediaByteCount + HopTag.byteCount
