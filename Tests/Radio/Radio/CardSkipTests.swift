import Foundation
import Glibc
import Synchronization
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourRadio

extension RealTimeTests {
    /// If the card skips audio, the reported share of missing audio equals the share that is silent at the other end
    /// of its wire.
    @Suite(.serialized, .needsLabcard) struct CardSkipTests {
        @Test(arguments: [0, 12, 60, 200]) func missingFramesAreThoseThatWereNotPlayed(milliseconds: Int) throws {
            try expectNoFailure {
                let pair = try Pair(playingOn: "labcard:skip\(milliseconds)_ear", into: Heard())
                let ear = try Ear("labcard:skip\(milliseconds)_ear")
                try pair.start()
                guard pair.settledDelay() != nil else { return "nothing was heard" }
                for _ in 0..<24 {
                    usleep(250_000)
                    if milliseconds > 0 { holdUp("tf-audio-play", milliseconds: milliseconds) }
                }
                waiting(1) { false }
                let playout = pair.talker?.playout ?? PlayoutStatistics()
                try pair.finish()
                let told = Double(playout.missing.rawValue) / Double(max(playout.due.rawValue, 1))
                let heard = silentShare(of: ear.finish())
                let late = Double(playout.late * 960) / Double(max(playout.due.rawValue, 1))
                if late > 0.01 { return "\(playout.late) packets late" }
                return abs(told - heard) < 0.01 ? nil : "told \(told), silent \(heard)"
            }
        }
    }
}

/// Returns the share of silence between the first and the last sample of the tone, counting runs of at least one
/// millisecond.
private func silentShare(of samples: [Float]) -> Double {
    guard let first = samples.firstIndex(where: { $0 != 0 }), let last = samples.lastIndex(where: { $0 != 0 }) else {
        return 1
    }
    var (silent, run) = (0, 0)
    for sample in samples[first...last] {
        if sample == 0 {
            run += 1
        } else {
            if run >= 48 { silent += run }
            run = 0
        }
    }
    return Double(silent) / Double(last - first + 1)
}

/// Keeps the thread `name` from running for this duration, as a very busy machine does.
private func holdUp(_ name: String, milliseconds: Int) {
    heldUp.store(Int32(milliseconds), ordering: .relaxed)
    signal(SIGUSR2, rest)
    for thread in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? [] {
        let comm = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
        guard comm == "\(name)\n", let id = pid_t(thread) else { continue }
        _ = sendSignal?(getpid(), id, SIGUSR2)
    }
}

/// The C function `tgkill`, which Swift's Glibc module does not export.
private let sendSignal: (@convention(c) (pid_t, pid_t, Int32) -> Int32)? = {
    let symbol = unsafe dlsym(nil, "tgkill")
    return unsafe symbol.map { unsafe unsafeBitCast($0, to: (@convention(c) (pid_t, pid_t, Int32) -> Int32).self) }
}()

private let heldUp = Atomic<Int32>(0)

@c private func rest(_: Int32) { usleep(UInt32(heldUp.load(ordering: .relaxed)) * 1_000) }
