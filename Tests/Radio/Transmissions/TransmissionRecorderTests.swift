import CAllocations
import CFileSyncs
import Glibc
import Synchronization
import TenfourAudioCore
import TenfourClocks
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourTransmissions

/// The recorder with its thread and its clocks.
@Suite(.onItsOwnThread, .inRealTime) struct TransmissionRecorderTests {
    private let folder = Folder()

    private func configuration(_ events: EventList) -> RecorderConfiguration {
        RecorderConfiguration(
            directory: folder.path, channel: "family", talkerName: { _ in "alice" },
            report: { event in events.all.withLock { $0.append(event) } })
    }

    private final class EventList: Sendable {
        let all = Mutex<[RecorderEvent]>([])
        var count: Int { all.withLock { $0.count } }
    }

    @Test func packetsOfTheNetworkThreadAreWritten() throws {
        let events = EventList()
        let recorder = try TransmissionRecorder(configuration(events))
        var alice = SimulatedSpeaker(1)
        let synced = syncs_of_this_thread()
        for round in 0..<3 {
            for index in 0..<50 {
                let sent = alice.next()
                let before = allocations_of_this_thread()
                recorder.insert(sent.payload.span, sent.packet, at: MonotonicClock.now)
                // With the first packet Swift's runtime creates the metadata of types.
                if round > 0 || index > 0 { #expect(allocations_of_this_thread() == before) }
            }
            recorder.leave(SSRC(1), at: MonotonicClock.now)
            // The thread sleeps, and the next packet wakes it.
            let deadline = ContinuousClock.now + .seconds(30)
            while events.count < 2 * round + 2, ContinuousClock.now < deadline { usleep(5_000) }
        }
        #expect(events.count == 6 && recorder.status.droppedPacketCount == 0)
        #expect(syncs_of_this_thread() == synced, "the network thread does not wait for the disk")
        let log = try TransmissionLog(folder.path).entries()
        #expect(
            log.map(\.transmission.duration) == [Duration](repeating: FrameCount(48_000 - 312).duration(), count: 3))
        recorder.close()
    }

    @Test func closingCompletesTheFiles() throws {
        let recorder = try TransmissionRecorder(configuration(EventList()))
        var alice = SimulatedSpeaker(1)
        for _ in 0..<20 {
            let sent = alice.next()
            recorder.insert(sent.payload.span, sent.packet, at: MonotonicClock.now)
        }
        recorder.close()
        recorder.close()
        let log = try TransmissionLog(folder.path).entries()
        #expect(log.count == 1 && log[0].isComplete)
        let late = alice.next()
        recorder.insert(late.payload.span, late.packet, at: MonotonicClock.now)
    }

    /// The network thread does not wait for a recorder that is stuck, here in its report.
    @Test func aSlowDiskDropsPacketsAndDelaysNobody() throws {
        var configuration = RecorderConfiguration(directory: folder.path, channel: "family")
        let box = Gate()
        configuration.report = { _ in
            box.hasBegun.store(true, ordering: .releasing)
            while box.isHeld.load(ordering: .acquiring) { usleep(1_000) }
        }
        let recorder = try TransmissionRecorder(configuration)
        var alice = SimulatedSpeaker(1)
        let first = alice.next()
        recorder.insert(first.payload.span, first.packet, at: MonotonicClock.now)
        let deadline = ContinuousClock.now + .seconds(30)
        while !box.hasBegun.load(ordering: .acquiring), ContinuousClock.now < deadline { usleep(1_000) }
        for _ in 0..<2_000 {
            let sent = alice.next()
            recorder.insert(sent.payload.span, sent.packet, at: MonotonicClock.now)
        }
        #expect(recorder.status.droppedPacketCount == 2_000 - 1_024)
        box.isHeld.store(false, ordering: .releasing)
        recorder.close()
        #expect(try TransmissionLog(folder.path).entries().count == 1)
    }

    private final class Gate: Sendable {
        let isHeld = Atomic<Bool>(true)
        let hasBegun = Atomic<Bool>(false)
    }

    @Test func aDirectoryThatCannotBeMadeIsRefused() {
        let path = folder("missing/radio")
        #expect {
            try TransmissionRecorder(RecorderConfiguration(directory: path, channel: ""))
        } throws: {
            "\($0)".contains("cannot record to \(path)") && "\($0)".contains("make its parent directory")
        }
    }
}
