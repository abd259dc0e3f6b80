import TenfourAudioCore
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourSystem
import TenfourTransmissions

/// The recording of a session's transmissions, with the notices about it.
final class SessionRecording: PacketTap {
    private let recorder: TransmissionRecorder
    private let directory: String
    private let names: Locked<TalkerNames>
    private let waiting: Locked<[String]>

    /// The number of notices that are kept until they are taken.
    private static let maximumCount = 16
    /// The first report of a station, which has its name, comes within five seconds (RFC 3550 section 6.2).
    private static let nameWait = Duration.seconds(10)

    init(to directory: String, limit: RecordLimit, hook: String?, channel: String) throws(RadioError) {
        let names = Locked(TalkerNames())
        let waiting = Locked<[String]>([])
        var configuration = RecorderConfiguration(
            directory: directory, channel: channel, talkerName: { ssrc in names.withLock { $0.name(of: ssrc) } },
            report: { event in
                guard let notice = Self.notice(of: event, limit) else { return }
                waiting.withLock { if $0.count < Self.maximumCount { $0.append(notice) } }
            })
        configuration.talkerPlace = { ssrc in names.withLock { $0[ssrc] } }
        configuration.nameWait = Self.nameWait
        configuration.limit = limit
        configuration.hook = hook.map { RecordingHook(arguments: [$0]) }
        do throws(RecordingError) {
            recorder = try TransmissionRecorder(configuration)
        } catch {
            throw RadioError(.unavailable, "\(error)")
        }
        (self.directory, self.names, self.waiting) = (directory, names, waiting)
    }

    /// The notice about the recording at the start.
    var opening: String { "recording to \(String(fromPeer: directory)), not encrypted" }

    func receive(_ payload: Span<UInt8>, _ packet: MediaPacket, at now: Instant) {
        let received = ReceivedPacket(
            ssrc: packet.ssrc, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
            frameCount: packet.description.frameCount, encoding: packet.encoding, origin: packet.origin)
        recorder.insert(payload, received, at: now)
    }

    func leave(_ ssrc: SSRC, at now: Instant) { recorder.leave(ssrc, at: now) }

    /// Takes over the talkers' names, which the files have.
    func update(_ names: TalkerNames) { self.names.withLock { $0 = names } }

    /// Returns the notices since the last call.
    func takeNotices() -> [String] {
        waiting.withLock { notices in
            defer { notices = [] }
            return notices
        }
    }

    /// Completes all files, which takes as long as the disk, and at most ten seconds for the hook. Returns the last notices.
    func close() -> [String] {
        recorder.close()
        return takeNotices()
    }

    /// Returns the line about an event; nil if it needs none.
    static func notice(of event: RecorderEvent, _ limit: RecordLimit) -> String? {
        switch event {
        case .began, .ended: nil
        case .failed(let error): "\(error)"
        case .recovered: "recording goes on"
        case .notRecorded(let encoding): "\(encoding) cannot be recorded: only Opus can"
        case .lost(.packets): "the disk is too slow: packets are missing from the recordings"
        case .lost(.talkers): "more than 16 talk at once: the others are not recorded"
        case .lost(.hooks): "--record-hook is too slow: it was not run for some recordings"
        case .removed(let count):
            "\(count == 1 ? "1 recording was" : "\(count) recordings were") removed: \(limit.sentence)"
        case .hookFailed(let message): message
        }
    }
}
