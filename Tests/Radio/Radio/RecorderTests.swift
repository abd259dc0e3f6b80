import CFileSyncs
import Foundation
import Synchronization
import TenfourAudioCore
import TenfourAudioFile
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourRadio

@Suite struct RecorderTests {
    @Test func aClosureGetsEverythingInOrder() {
        let heard = Heard()
        let pieces = filled(100)
        let recorder = Recorder(file: nil, closure: heard.take, format: .mono, pieces, failed: heard.fail)
        recorder.run { true }
        let samples: [Float] = (0..<24_000).map { Float($0) / 65_536 }
        #expect(heard.samples == samples)
        #expect(heard.formats == [.mono])
        #expect(heard.failure == nil)
    }

    @Test func laterAudioIsRecordedToo() {
        let heard = Heard()
        let ring = RingBuffer<RecordedAudio>(capacity: 512, filler: RecordedAudio())
        let producer = ring.producer
        let recorder = Recorder(file: nil, closure: heard.take, format: .mono, ring.consumer, failed: heard.fail)
        var rounds = 0
        recorder.run {
            rounds += 1
            if rounds <= 3 { fill(producer, 10, from: (rounds - 1) * 10) }
            return rounds == 3
        }
        #expect(heard.samples.count == 30 * 240)
    }

    @Test func aFileHoldsWhatWasHeard() throws {
        let folder = Folder()
        let path = folder("heard.wav")
        let heard = Heard()
        let writer = try AudioFileWriter(path: path, format: .mono, coding: .float32)
        let recorder = Recorder(file: writer, closure: nil, format: .mono, filled(20), failed: heard.fail)
        recorder.run { true }
        var reader = try AudioFileReader(path: path)
        #expect(reader.frameCount == FrameCount(20 * 240))
        var samples = [Float](repeating: 9, count: 4_800)
        var span = samples.mutableSpan
        _ = try reader.read(into: &span)
        #expect(samples == (0..<4_800).map { Float($0) / 65_536 })
    }

    /// By the thread that runs the recorder.
    @Test func aFileIsBroughtToTheDiskWhileItIsWrittenAndAtItsEnd() throws {
        let folder = Folder()
        let heard = Heard()
        let writer = try AudioFileWriter(path: folder("heard.wav"), format: .mono, createsOnFirstWrite: true)
        let recorder = Recorder(file: writer, closure: nil, format: .mono, filled(20), failed: heard.fail)
        let before = syncs_of_this_thread()
        var (rounds, counts) = (0, [UInt]())
        recorder.run {
            rounds += 1
            counts.append(syncs_of_this_thread() - before)
            return rounds == 110
        }
        // The file and its folder after two seconds, and the file at the end.
        #expect(counts[50] == 0 && counts.last == 2 && syncs_of_this_thread() - before == 3)
        #expect(heard.failure == nil)
    }

    @Test func aFullDiskIsReportedOnceAndEndsIt() throws {
        let heard = Heard()
        let writer = try AudioFileWriter(path: "/dev/full", format: .mono, container: .raw)
        let recorder = Recorder(file: writer, closure: nil, format: .mono, filled(400), failed: heard.fail)
        recorder.run { false }
        #expect(heard.failure?.kind == .failure)
        #expect(heard.failure?.description.contains("/dev/full") == true)
    }

    @Test func aPipeWithoutAReaderIsAnErrorAndNotTheEndOfTheProcess() throws {
        var ends: [Int32] = [0, 0]
        unsafe #expect(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let heard = Heard()
        let writer = try AudioFileWriter(fileDescriptor: ends[1], name: "the pipe", format: .mono)
        let recorder = RunningRecorder(
            Recorder(file: writer, closure: nil, format: .mono, filled(10), failed: heard.fail))
        let thread = Thread { recorder.run() }
        thread.start()
        while !recorder.hasEnded { usleep(1_000) }
        #expect(heard.failure?.description.contains("the pipe") == true)
    }

    private func filled(_ count: Int) -> RingBufferConsumer<RecordedAudio> {
        let ring = RingBuffer<RecordedAudio>(capacity: 512, filler: RecordedAudio())
        fill(ring.producer, count, from: 0)
        return ring.consumer
    }

    private func fill(_ producer: borrowing RingBufferProducer<RecordedAudio>, _ count: Int, from first: Int) {
        for number in first..<first + count {
            var piece = RecordedAudio()
            piece.count = 240
            for index in 0..<240 { piece.samples[index] = Float(number * 240 + index) / 65_536 }
            let isTaken = producer.push(piece)
            #expect(isTaken)
        }
    }
}

/// The audio passed to a recording closure, from any thread.
final class Heard: Sendable {
    private struct Contents {
        var samples: [Float] = []
        var formats: Set<LPCMFormat> = []
        var failure: RadioError?
    }

    private let contents = Locked(Contents())

    var samples: [Float] { contents.withLock { $0.samples } }
    var formats: Set<LPCMFormat> { contents.withLock { $0.formats } }
    var failure: RadioError? { contents.withLock { $0.failure } }

    @Sendable func take(_ samples: [Float], _ format: LPCMFormat) {
        contents.withLock {
            $0.samples += samples
            $0.formats.insert(format)
        }
    }

    @Sendable func fail(_ error: RadioError) { contents.withLock { $0.failure = $0.failure ?? error } }
}

/// Runs a recorder on a thread of its own.
private final class RunningRecorder: @unchecked Sendable {
    private var recorder: Recorder?
    private let ended = Atomic(false)

    init(_ recorder: consuming Recorder) { self.recorder = consume recorder }

    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    func run() {
        recorder.take()?.run { true }
        ended.store(true, ordering: .releasing)
    }
}
