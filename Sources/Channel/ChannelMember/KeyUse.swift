/// How much a key was used recently: the number of packets that it has decrypted, halved every four seconds.
///
/// Anyone with a listen link can make keys that decrypt a packet. So keys are compared by how much they were used, and not by
/// which was used last.
struct KeyUse: Sendable {
    private var packetCount = 0
    private var began: Int64

    /// The time, in milliseconds, after which an earlier packet counts half.
    private static let halfLife: Int64 = 4_000
    /// The count from which a key is in use, about 200 ms of talk. Such a key keeps its slot until it expires.
    static let least = 10

    init(at boot: Int64) { began = boot }

    /// Counts a packet that was decrypted at `boot` (CLOCK_BOOTTIME in milliseconds).
    mutating func packetDecrypted(at boot: Int64) {
        let halvings = halvings(at: boot)
        packetCount >>= halvings
        began += Int64(halvings) * Self.halfLife
        packetCount += 1
    }

    func count(at boot: Int64) -> Int { packetCount >> halvings(at: boot) }

    private func halvings(at boot: Int64) -> Int { Int(max(boot - began, 0) / Self.halfLife) }
}
