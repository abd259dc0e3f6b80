internal import Glibc
internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession
internal import TenfourUV
internal import TenfourUnixSockets

/// The CNAME that a station has again after a restart, so that its partners list it once (Protocol/02-rtcp.md).
///
/// It is derived by a one-way function from the machine, the user, the port and the partners. So it tells nobody who or
/// where the user is, and partners cannot find out that they talk with the same station. Only one session has the name
/// at a time, also if its process is killed: it holds an abstract Unix socket of this name.
final class StableCanonicalName: Sendable {
    let text: String
    private let descriptor: Int32

    /// Returns nil if another session holds the name, if the machine has no id, and in a channel, whose relay lists the
    /// members.
    convenience init?(_ configuration: RadioConfiguration) {
        if case .channel = configuration.protection { return nil }
        guard let machine = Self.machine else { return nil }
        let own = ["\(getuid())", "\(configuration.local)", configuration.rtpSession.name ?? ""]
        self.init(own + configuration.rtpSession.remotes.map(\.description).sorted(), on: machine)
    }

    /// Derives the name from `parts` and the id of a machine. Returns nil if it is held.
    init?(_ parts: [String], on machine: [UInt8]) {
        let label = Array("tenfour CNAME\n\(parts.joined(separator: "\n"))".utf8)
        let salt = Array("tenfour".utf8)
        let name = HKDF.expand(HKDF.extract(salt: salt.span, secret: machine.span), label, count: 16)
        text = name.withBytes { bytes in
            bytes.indices.map { String(bytes[$0] >> 4, radix: 16) + String(bytes[$0] & 15, radix: 16) }.joined()
        }
        guard let address = UnixSocketAddress(abstract: "tenfour-\(text)"),
            let descriptor = try? UnixSocketAddress.stream(isBlocking: false)
        else { return nil }
        guard unsafe address.withSocketAddress({ unsafe bind(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The id of the machine (machine-id(5)) and its host name, which differs between containers of one image; nil if it
    /// has no id.
    private static var machine: [UInt8]? {
        let file = unsafe open("/etc/machine-id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(file, &bytes, bytes.count)
        // An id that is not made yet is empty or "uninitialized".
        guard count >= 32 else { return nil }
        var name = [CChar](repeating: 0, count: 256)
        let code = unsafe gethostname(&name, name.count)
        return bytes.prefix(count) + (code == 0 ? name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) } : [])
    }
}

extension Identity {
    /// Returns a random identity with the CNAME `name`, or a random one if it is nil. `now` is the loop's time.
    static func random(named name: StableCanonicalName?, at now: Instant) -> Self {
        var generator = SystemRandomNumberGenerator()
        let (seconds, nanoseconds) = RealTimeClock.sinceEpoch
        let wallClock = NTPTime(secondsSince1970: seconds, nanoseconds: nanoseconds).advanced(by: .start - now)
        var identity = Self.random(wallClock: wallClock, using: &generator)
        if let name { identity.canonicalName = name.text }
        return identity
    }
}
