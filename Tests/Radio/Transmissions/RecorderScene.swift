import Synchronization
import TenfourAudioCore
import TenfourClocks
import TenfourPackets
import TestSupport

@testable import TenfourTransmissions

/// A recorder on a simulated clock, and its folder. The clock begins at 2026-11-22 10:03:17 UTC.
final class RecorderScene {
    /// The folder of the recordings, if no other directory was chosen.
    let folder = Folder()
    var now = Instant.start + .seconds(500)

    /// Whether the recorder takes the wall clock for right.
    let isClockSet = Flag()
    /// The time by which the wall clock was set forward.
    var leap = 0

    private let reported: Reported
    private var run: RecorderRun

    static let start = 1_795_341_797

    /// What the recorder asks and tells, on whatever thread it runs.
    private final class Reported: Sendable {
        let events = Mutex<[RecorderEvent]>([])
        let names = Mutex<[UInt32: String]>([1: "alice", 2: "bob"])
        let places = Mutex<[UInt32: String]>([:])
    }

    final class Flag: Sendable { let value = Atomic(true) }

    init(
        channel: String = "family", limit: RecordLimit = .usual, hook: RecordingHook? = nil, directory: String? = nil,
        nameWait: Duration = .zero
    ) throws {
        let reported = Reported()
        var configuration = RecorderConfiguration(
            directory: directory ?? folder.path, channel: channel,
            talkerName: { ssrc in reported.names.withLock { $0[ssrc.rawValue] } },
            report: { event in reported.events.withLock { $0.append(event) } })
        (configuration.limit, configuration.hook) = (limit, hook)
        configuration.talkerPlace = { ssrc in reported.places.withLock { $0[ssrc.rawValue] } }
        configuration.nameWait = nameWait
        self.reported = reported
        let isClockSet = isClockSet
        run = try RecorderRun(
            configuration, at: now, seconds: Self.start, isClockSet: { isClockSet.value.load(ordering: .relaxed) })
    }

    /// The time in seconds since 1970.
    var seconds: Int { Self.start + Int((now - .start) / .seconds(1)) - 500 + leap }
    var status: RecorderStatus { run.status }

    func setName(_ name: String?, of ssrc: UInt32) { reported.names.withLock { $0[ssrc] = name } }

    func setPlace(_ place: String, of ssrc: UInt32) { reported.places.withLock { $0[ssrc] = place } }

    /// Returns the events since the last call.
    func takeEvents() -> [RecorderEvent] {
        reported.events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    func receive(_ payload: [UInt8], _ packet: ReceivedPacket) {
        run.receive(payload, packet, at: now, seconds: seconds)
    }

    func leave(_ ssrc: UInt32) { run.leave(SSRC(ssrc), at: now) }

    /// Lets somebody talk for `time`. `isLost` gets the number of the packet.
    func talk(
        _ speaker: inout SimulatedSpeaker, for time: Duration, dropping isLost: (Int) -> Bool = { _ in false }
    ) {
        for index in 0..<Int(time / .milliseconds(20)) {
            let sent = speaker.next()
            if !isLost(index) { receive(sent.payload, sent.packet) }
            pass(.milliseconds(20))
        }
    }

    /// Lets time pass. The recorder looks at the clock every 100 ms.
    func pass(_ time: Duration) {
        let end = now + time
        let tick = Int64(100_000_000)
        while true {
            let next = Instant(nanoseconds: (now.nanoseconds / tick + 1) * tick)
            guard next <= end else { break }
            now = next
            run.advance(to: now, seconds: seconds)
        }
        now = end
    }

    func finish() { run.finish({ MonotonicClock.now }, seconds: seconds) }

    /// The names of the recordings in the folder.
    var names: [String] { Folder.entries(of: folder.path).filter { $0.hasSuffix(".opus") }.sorted() }

    func file(_ name: String) -> OggFile { OggFile(path: folder(name)) }

    func log() throws -> [TransmissionLog.Entry] { try TransmissionLog(folder.path).entries() }
}
