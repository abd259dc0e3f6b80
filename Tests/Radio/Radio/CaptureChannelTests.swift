import Foundation
import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourRadio

@Suite struct CaptureChannelTests {
    @Test func aChannelThatIsSilentWhileTheOtherIsNotIsFoundAfterTwoSeconds() {
        var detector = SilentChannelDetector(rate: 48_000)
        for _ in 0..<99 { detector.append(960, soundsLeft: true, soundsRight: false) }
        #expect(detector.silentChannel == nil)
        detector.append(960, soundsLeft: true, soundsRight: false)
        #expect(detector.silentChannel == .right)
        detector.append(960, soundsLeft: false, soundsRight: true)
        #expect(detector.silentChannel == nil, "the right channel is no longer silent")
        for _ in 0..<100 { detector.append(960, soundsLeft: false, soundsRight: true) }
        #expect(detector.silentChannel == .left)
    }

    @Test func silenceOnBothSidesTellsNothing() {
        var detector = SilentChannelDetector(rate: 16_000)
        for _ in 0..<1_000 { detector.append(320, soundsLeft: false, soundsRight: false) }
        #expect(detector.silentChannel == nil)
        // A pause of the speaker does not restart the count.
        for turn in 0..<200 { detector.append(320, soundsLeft: turn % 2 == 0, soundsRight: false) }
        #expect(detector.silentChannel == .right)
    }

    @Test(
        arguments: [
            (CaptureChannel.left, 1, [0.5]), (.right, 1, [0.25]), (.mix, 1, [0.375]),
            (.left, 2, [0.5, 0.5]), (.right, 2, [0.25, 0.25]), (.mix, 2, [0.5, 0.25]),
        ] as [(CaptureChannel, Int, [Float])]) func aStereoSourceIsSentAsAskedFor(
            channel: CaptureChannel, channelCount: Int, frame: [Float]
        ) throws
    {
        let source = Constant(frame: [0.5, 0.25])
        var input = CaptureInput(
            AudioInput(source), channelCount: channelCount, of: channel, frame: .milliseconds(5))
        guard case .captured(let frames, _) = input.next() else {
            Issue.record("nothing was captured")
            return
        }
        for index in 0..<frames.rawValue * channelCount { #expect(input.sound[index] == frame[index % channelCount]) }
    }

    @Test(arguments: CaptureChannel.allCases) func aMonoSourceSendsItsOneChannel(channel: CaptureChannel) throws {
        var input = CaptureInput(
            AudioInput(Constant(frame: [0.5])), channelCount: 2, of: channel, frame: .milliseconds(5))
        _ = input.next()
        #expect(input.sound[0] == 0.5 && input.sound[1] == 0.5)
    }
}

/// An audio source that always captures the same frame.
private final class Constant: AudioSource, Sendable {
    let frame: [Float]
    let format: LPCMFormat

    init(frame: [Float]) {
        self.frame = frame
        format = LPCMFormat(channelCount: frame.count)
    }

    func read(into samples: inout MutableSpan<Float>) throws(Never) -> FrameCount {
        for index in samples.indices { samples[index] = frame[index % frame.count] }
        return FrameCount(samples.count / frame.count)
    }
}
