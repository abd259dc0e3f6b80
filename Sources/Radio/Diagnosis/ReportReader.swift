package import TenfourAudioCore
package import TenfourPackets

/// Reads the name, the program and the clock of another station from its reports (RTCP).
package struct ReportReader: Sendable {
    /// The name that the station states, safe to display, at most 64 characters; empty if there is none.
    package private(set) var name = ""
    private var isTenfour = false
    private var clockDifference: Duration?
    private let wallClock: NTPTime

    /// `wallClock` is our own at `Instant.start`.
    package init(wallClock: NTPTime) { self.wallClock = wallClock }

    /// The other clock less ours; nil if it is unknown. Only tenfour's is taken, because the clock in the reports of
    /// other programs need not be the time of day.
    package var difference: Duration? { isTenfour ? clockDifference : nil }

    package mutating func read(_ datagram: Span<UInt8>, at now: Instant) {
        guard var packets = try? RTCPCompound(parsing: datagram, allowsReducedSize: true) else { return }
        while let packet = try? packets.next() {
            switch packet {
            case .sourceDescription(let description):
                guard let chunk = description.chunks.first else { continue }
                if let item = chunk[.name] { name = String(fromPeer: item.text, limit: 64) }
                if let item = chunk[.tool] { isTenfour = item.text.hasPrefix("tenfour") }
            case .senderReport(let report): readClock(report.time, at: now)
            case .extendedReport(let report):
                for case .referenceTime(let time) in report.blocks { readClock(time, at: now) }
            default: break
            }
        }
    }

    private mutating func readClock(_ time: NTPTime, at now: Instant) {
        let difference = Int64(bitPattern: time.rawValue &- wallClock.advanced(by: now - .start).rawValue)
        let fraction = ((difference & 0xFFFF_FFFF) * 1_000_000_000) >> 32
        clockDifference = .seconds(difference >> 32) + .nanoseconds(fraction)
    }
}
