public import TenfourAudioCore

/// The destination and encoding of an audio stream, as in SDP (RFC 8866).
///
/// If a description has several streams, the first audio stream that can be played is read. All text is made safe for a
/// terminal, on reading and on writing.
public struct SessionDescription: Hashable, Sendable {
    public var origin: Origin
    public var name: String
    public var connection: Connection
    /// The RTP port, above zero.
    public var port: UInt16
    public var profile: Profile
    /// The formats in order of preference: 1…64 with different payload types.
    public var formats: [Format]
    /// The duration of a packet; nil if it is not stated. Written in whole milliseconds, rounded up (RFC 7587 section
    /// 7).
    public var packetTime: Duration?
    /// The maximum duration of a packet; nil if it is not stated.
    public var maximumPacketTime: Duration?
    /// The RTCP port, if the description names one (RFC 3605). Use `controlPort` to send.
    public var rtcpPort: UInt16?
    /// Whether RTCP may share RTP's port (RFC 5761).
    public var multiplexesRTCP: Bool
    public var direction: Direction
    /// The feedback that senders of the stream support (RFC 4585 section 4.2), at most 64 entries.
    public var feedback: [Feedback]
    /// Keys that protect the stream, in order of preference, at most 64.
    public var cryptos: [Crypto]

    /// Creates a description. `formats` contains one format of Opus by default.
    public init(
        origin: Origin, name: String, connection: Connection, port: UInt16 = RTPDefaults.port,
        profile: Profile = .avp, formats: [Format] = [.opus()], packetTime: Duration? = nil,
        maximumPacketTime: Duration? = nil, rtcpPort: UInt16? = nil, multiplexesRTCP: Bool = true,
        direction: Direction = .sendAndReceive, feedback: [Feedback] = [], cryptos: [Crypto] = []
    ) {
        self.origin = origin
        self.name = name
        self.connection = connection
        self.port = port
        self.profile = profile
        self.formats = formats
        self.packetTime = packetTime
        self.maximumPacketTime = maximumPacketTime
        self.rtcpPort = rtcpPort
        self.multiplexesRTCP = multiplexesRTCP
        self.direction = direction
        self.feedback = feedback
        self.cryptos = cryptos
    }

    /// The port for RTCP. If RTCP shares RTP's port, that port; if not, the port in the description or, if it names
    /// none, the port after RTP's. Nil if this port would exceed 65 535.
    public var controlPort: UInt16? {
        if multiplexesRTCP { return port }
        return rtcpPort ?? (port < .max ? port + 1 : nil)
    }

    /// The first format that is Opus; nil if there is none.
    public var opus: Format? { formats.first { $0.audioEncoding == .opus } }

    /// The payload types of Opus and G.711, and the encoding of each. G.711 may have a dynamic payload type.
    public var payloadTypes: [UInt8: AudioEncoding] {
        let pairs = formats.compactMap { format in format.audioEncoding.map { (format.payloadType, $0) } }
        return Dictionary(pairs) { first, _ in first }
    }

    /// The first payload type of `encoding`; nil if the description does not offer this encoding.
    public func payloadType(of encoding: AudioEncoding) -> UInt8? {
        formats.first { $0.audioEncoding == encoding }?.payloadType
    }

    /// The first format that is redundant coding (RED, RFC 2198) of `opus` only; nil if there is none.
    public var redundantOpus: Format? {
        guard let opus else { return nil }
        return formats.first { format in
            guard let encoding = format.encoding, encoding.isNamed("red"), encoding.clockRate == 48_000 else {
                return false
            }
            let coded = (format.parameters ?? "").fields(separator: "/")
            return coded.count > 1 && coded.allSatisfy { UInt8($0) == opus.payloadType }
        }
    }

    /// Whether the sender of the stream supports generic NACKs (RFC 4585 section 6.2.1).
    public var supportsNACK: Bool {
        feedback.contains { $0.kind == "nack" && ($0.payloadType == nil || $0.payloadType == opus?.payloadType) }
    }
}

extension SessionDescription {
    /// The `o=` line: the creator of the description. Its first three fields and its address together identify the
    /// session globally.
    public struct Origin: Hashable, Sendable {
        /// The user name, without spaces; "-" if there is none.
        public var username: String
        public var sessionID: UInt64
        /// The version of the description, which increases with each change.
        public var version: UInt64
        public var address: Connection

        public init(username: String = "-", sessionID: UInt64, version: UInt64 = 0, address: Connection) {
            self.username = username
            self.sessionID = sessionID
            self.version = version
            self.address = address
        }

        /// The origin of a description without an `o=` line.
        public static let unknown = Origin(sessionID: 0, address: Connection("0.0.0.0"))
    }

    /// The `c=` line: the destination of the stream, an IP address or a host name. With `0.0.0.0` the stream may come
    /// from anywhere.
    public struct Connection: Hashable, Sendable {
        public enum Family: String, Hashable, Sendable {
            case v4 = "IP4"
            case v6 = "IP6"
        }

        public var family: Family
        /// The address as text. When read, it contains letters, digits and `.:-_%` only.
        public var address: String
        /// The time to live of an IPv4 multicast address, if the description has one.
        public var timeToLive: UInt8?

        /// Creates a connection. If `family` is nil, an address with a colon is IPv6.
        public init(_ address: String, family: Family? = nil, timeToLive: UInt8? = nil) {
            self.address = address
            self.family = family ?? (address.contains(":") ? .v6 : .v4)
            self.timeToLive = timeToLive
        }

        /// Whether the address is in 224.0.0.0…239.255.255.255 or ff00::/8.
        public var isMulticast: Bool {
            switch family {
            case .v4:
                let parts = address.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
                guard parts.count == 4, !parts.contains(nil), let first = parts[0] else { return false }
                return (224...239).contains(first)
            case .v6: return address.contains(":") && address.lowercased().hasPrefix("ff")
            }
        }
    }

    /// The RTP profile: plain or secure (S), without or with early feedback (F).
    public enum Profile: String, Hashable, Sendable, CaseIterable {
        case avp = "RTP/AVP"
        case avpf = "RTP/AVPF"
        case savp = "RTP/SAVP"
        case savpf = "RTP/SAVPF"

        /// Whether the media is encrypted.
        public var isSecure: Bool { self == .savp || self == .savpf }
    }

    /// The direction of the audio, as seen by the creator of the description.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        case sendAndReceive = "sendrecv"
        case sendOnly = "sendonly"
        case receiveOnly = "recvonly"
        case inactive
    }

    /// A kind of feedback (`a=rtcp-fb`).
    public struct Feedback: Hashable, Sendable {
        /// The payload type to which the feedback applies; nil for all payload types.
        public var payloadType: UInt8?
        /// The kind with its parameters: `nack`, `nack pli`, `ccm fir`, …
        public var kind: String

        public init(payloadType: UInt8? = nil, kind: String) {
            self.payloadType = payloadType
            self.kind = kind
        }

        /// Requests for retransmission (generic NACK).
        public static let nack = Feedback(kind: "nack")
    }

    /// An SRTP key (`a=crypto`, RFC 4568). Only lines with one key, without an MKI and without session parameters, are
    /// supported.
    public struct Crypto: Hashable, Sendable {
        public var tag: UInt32
        /// The crypto suite by its name in RFC 4568 or later: a cipher and an authentication.
        public var suite: String
        /// Key and salt in base64. Secret.
        public var key: String

        public init(tag: UInt32 = 1, suite: String, key: String) {
            self.tag = tag
            self.suite = suite
            self.key = key
        }
    }

    /// A payload type and its encoding.
    public struct Format: Hashable, Sendable {
        /// The payload type, 0…127.
        public var payloadType: UInt8
        /// The encoding; nil if neither the description nor RFC 3551's table defines it.
        public var encoding: Encoding?
        /// The format's own parameters (`a=fmtp`), as text.
        public var parameters: String?

        public init(payloadType: UInt8, encoding: Encoding?, parameters: String? = nil) {
            self.payloadType = payloadType
            self.encoding = encoding
            self.parameters = parameters
        }

        /// The encoding, if it is Opus, or G.711 with one channel at 8 000 Hz; nil for any other.
        public var audioEncoding: AudioEncoding? {
            guard let encoding, let named = AudioEncoding.allCases.first(where: { encoding.isNamed($0.name) }) else {
                return nil
            }
            return named == .opus || encoding.clockRate == 8_000 && encoding.channelCount == 1 ? named : nil
        }

        /// Opus by RFC 7587: always 48 000 Hz and two channels; the real values are in `parameters`.
        public static func opus(
            payloadType: UInt8 = RTPDefaults.opusPayloadType, _ parameters: OpusParameters = OpusParameters()
        ) -> Self {
            Self(payloadType: payloadType, encoding: .opus, parameters: parameters.text)
        }

        /// G.711 under the payload type that RFC 3551 assigns to it; nil for Opus.
        public static func g711(_ encoding: AudioEncoding) -> Self? {
            encoding.staticPayloadType.map {
                Self(payloadType: $0, encoding: Encoding(name: encoding.name, clockRate: encoding.clockRate.hertz))
            }
        }

        /// Redundant coding (RFC 2198) of a payload and one copy or more, all of type `opus`.
        public static func redundant(payloadType: UInt8 = RTPDefaults.redPayloadType, opus: UInt8) -> Self {
            Self(
                payloadType: payloadType, encoding: Encoding(name: "red", clockRate: 48_000, channelCount: 2),
                parameters: "\(opus)/\(opus)")
        }
    }

    /// The value of `a=rtpmap` for a payload type.
    public struct Encoding: Hashable, Sendable {
        public var name: String
        /// The clock rate of timestamps in hertz.
        public var clockRate: Int
        public var channelCount: Int

        public init(name: String, clockRate: Int, channelCount: Int = 1) {
            self.name = name
            self.clockRate = clockRate
            self.channelCount = channelCount
        }

        public static let opus = Encoding(name: "opus", clockRate: 48_000, channelCount: 2)

        /// Whether the encoding has the name `other`. Encoding names are case-insensitive.
        public func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }

        /// The encodings of static payload types (RFC 3551 table 4).
        package static func assigned(to payloadType: UInt8) -> Encoding? {
            switch payloadType {
            case 0: Encoding(name: "PCMU", clockRate: 8_000)
            case 3: Encoding(name: "GSM", clockRate: 8_000)
            case 4: Encoding(name: "G723", clockRate: 8_000)
            case 5: Encoding(name: "DVI4", clockRate: 8_000)
            case 6: Encoding(name: "DVI4", clockRate: 16_000)
            case 7: Encoding(name: "LPC", clockRate: 8_000)
            case 8: Encoding(name: "PCMA", clockRate: 8_000)
            case 9: Encoding(name: "G722", clockRate: 8_000)
            case 10: Encoding(name: "L16", clockRate: 44_100, channelCount: 2)
            case 11: Encoding(name: "L16", clockRate: 44_100)
            case 12: Encoding(name: "QCELP", clockRate: 8_000)
            case 13: Encoding(name: "CN", clockRate: 8_000)
            case 14: Encoding(name: "MPA", clockRate: 90_000)
            case 15: Encoding(name: "G728", clockRate: 8_000)
            case 16: Encoding(name: "DVI4", clockRate: 11_025)
            case 17: Encoding(name: "DVI4", clockRate: 22_050)
            case 18: Encoding(name: "G729", clockRate: 8_000)
            default: nil
            }
        }
    }
}
