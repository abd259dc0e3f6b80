import Glibc
import TenfourAudioCore
import TenfourPackets
import TenfourTransmissions
import TestSupport
import Testing

@testable import TenfourRadio

@Suite struct ReplayDecoderTests {
    /// Decodes the last minute of what `speak` inserts, at `rate`.
    private func replayed(
        rate: Double = 1, format: LPCMFormat = .mono, speak: (inout TransmissionHistory) throws -> Void
    ) throws -> [Float] {
        var history = TransmissionHistory(byteCount: 1 << 20)
        try speak(&history)
        let found = history.last(at: .start + .seconds(30))
        let replay = try #require(found)
        var decoder = try ReplayDecoder(format: format)
        decoder.begin(replay, rate: rate)
        var samples: [Float] = []
        while let count = decoder.next() { samples += decoder.output[..<count] }
        return samples
    }

    /// A tone of two seconds whose packets arrive from `start` on; those in `lost` do not.
    private func tone(
        from start: Duration, of ssrc: UInt32 = 1, lost: Range<Int> = 0..<0, into history: inout TransmissionHistory
    ) throws {
        for (index, payload) in try CodedTone.packets(seconds: 2).enumerated() where !lost.contains(index) {
            let packet = ReceivedPacket(
                ssrc: SSRC(ssrc), sequenceNumber: SequenceNumber(rawValue: UInt16(index)),
                timestamp: RTPTimestamp(rawValue: UInt32(index * 960)), frameCount: FrameCount(960))
            history.insert(payload.span, packet, at: .start + start + .milliseconds(20) * index)
        }
    }

    @Test func aTransmissionIsHeardAgain() throws {
        let samples = try replayed { try tone(from: .seconds(1), into: &$0) }
        #expect(abs(samples.count - 96_000) < 2_000, "\(samples.count)")
        #expect(amplitude(of: Tone.telling, in: samples[20_000..<70_000]) > 0.1)
    }

    @Test func aFasterReplayKeepsThePitch() throws {
        let samples = try replayed(rate: 1.25) { try tone(from: .seconds(1), into: &$0) }
        #expect(abs(samples.count - 76_800) < 4_000, "\(samples.count)")
        #expect(amplitude(of: Tone.telling, in: samples[20_000..<60_000]) > 0.1)
    }

    @Test func twoTransmissionsFollowEachOtherAfterAShortPause() throws {
        let samples = try replayed {
            try tone(from: .seconds(1), into: &$0)
            try tone(from: .seconds(20), of: 2, into: &$0)
        }
        // 300 ms between them, instead of 17 s.
        #expect(abs(samples.count - 206_400) < 3_000, "\(samples.count)")
        #expect(amplitude(of: Tone.telling, in: samples[130_000..<180_000]) > 0.1)
    }

    @Test func aLossIsConcealedAndTakesItsTime() throws {
        let samples = try replayed { try tone(from: .seconds(1), lost: 50..<56, into: &$0) }
        #expect(abs(samples.count - 96_000) < 2_000, "\(samples.count)")
    }

    @Test func aCardOfAnotherRateAndChannelsGetsTheSame() throws {
        let format = LPCMFormat(rate: SampleRate(hertz: 44_100), channelCount: 2)
        let samples = try replayed(format: format) { try tone(from: .seconds(1), into: &$0) }
        #expect(abs(samples.count - 176_400) < 4_000, "\(samples.count)")
        let left = stride(from: 0, to: samples.count, by: 2).map { samples[$0] }
        #expect(amplitude(of: Tone.telling * 48_000 / 44_100, in: left[20_000..<60_000]) > 0.1)
    }
}

extension RealTimeTests {
    @Suite(.serialized, .needsLabcard) struct ReplayTests {
        @Test func theLastTransmissionIsHeardAgainOnTheCardOnly() throws {
            try expectNoFailure {
                let heard = Heard()
                let pair = try Pair(playingOn: "labcard:replay_ear", into: heard, keepsHistory: true)
                let ear = try Ear("labcard:replay_ear")
                try pair.start()
                #expect(waiting { heard.samples.count > 96_000 })
                pair.sending.stop()
                try pair.sending.wait()
                usleep(1_300_000)
                let before = heard.samples.count
                pair.hearing.replay(.lastTransmission)
                #expect(waiting { pair.hearing.isReplaying })
                usleep(1_000_000)
                #expect(pair.hearing.isReplaying)
                pair.hearing.stopReplay()
                #expect(waiting { !pair.hearing.isReplaying })
                usleep(500_000)
                let recorded = heard.samples.suffix(from: min(before, heard.samples.count))
                try pair.finish()
                let events = pair.hearing.takeReplayEvents()
                let onCard = ear.finish()
                #expect(loudness(of: recorded) < 0.01, "a replay is not recorded")
                guard case .began(1, let duration)? = events.first, events.last == .ended else { return "\(events)" }
                #expect(duration > .seconds(1))
                #expect(loudness(of: onCard.suffix(4_800)) < 0.001, "stopped")
                let again = amplitude(of: 440, in: onCard.dropLast(36_000).suffix(24_000))
                return again > 0.2 ? nil : "\(again)"
            }
        }

        @Test func aReplayOfNothingSaysSo() throws {
            let pair = try Pair(playingOn: "labcard:none_ear", into: Heard(), keepsHistory: true)
            let ear = try Ear("labcard:none_ear")
            try pair.hearing.start()
            pair.hearing.replay(.lastMinute)
            var events: [ReplayEvent] = []
            #expect(
                waiting {
                    events += pair.hearing.takeReplayEvents()
                    return !events.isEmpty
                })
            #expect(events == [.nothing])
            pair.hearing.stop()
            try pair.hearing.wait()
            _ = ear.finish()
        }
    }
}
