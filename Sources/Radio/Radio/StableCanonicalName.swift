internal import Glibc
internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession
internal import TenfourSystem
internal import TenfourUV

/// The CNAME that a station has again after a restart, so that its partners list it once (Protocol/02-rtcp.md).
///
/// It is derived by a one-way function from the machine since it was started, its network, the user, the port and the
/// partners. So it tells nobody who or where the user is, and different partners cannot find out that they talk with the
/// same station. The same partners, and those who can read reports that are not encrypted, can tell that a call comes
/// from the station of an earlier one, until the machine is started again. A session without configured partners has no
/// such name, because all its callers would see the same. Only one session has the name at a time, also if its process
/// is killed: it holds an abstract Unix socket of this name.
final class StableCanonicalName: Sendable {
    let text: String
    private let descriptor: Int32

    /// Returns nil if another session holds the name, if the machine has no id, without partners, and in a channel, whose
    /// relay lists the members.
    convenience init?(_ configuration: RadioConfiguration) {
        if case .channel = configuration.protection { return nil }
        guard !configuration.rtpSession.remotes.isEmpty, let machine = Self.machine else { return nil }
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

    /// The id of the machine (machine-id(5)), that of its start, and its network namespace, which differs between
    /// containers; nil if one of the first two is missing.
    private static var machine: [UInt8]? {
        // An id that is not made yet is empty or "uninitialized".
        guard let id = contents(of: "/etc/machine-id"), id.count >= 32,
            let start = contents(of: "/proc/sys/kernel/random/boot_id"), start.count >= 32
        else { return nil }
        var network = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/self/ns/net", &network, network.count)
        return id + start + network.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
    }

    private static func contents(of path: String) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(file, &bytes, bytes.count)
        return count >= 0 ? Array(bytes.prefix(count)) : nil
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
