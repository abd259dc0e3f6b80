import Foundation
import TenfourAudioCore
import Testing

@testable import TenfourSoundCard

/// Devices without a clock: PCMs that write to files and read from them.
@Suite(.serialized) struct FileDeviceTests {
    init() { _ = PrivateALSA.directory }

    @Test func playbackReachesTheCardBitForBit() throws {
        let sound = (0..<4_800).map { (index: Int) in Int16(truncatingIfNeeded: index &* 7_919) }
        var queued = 0
        do {
            var card = try PlaybackCard(device: "tape", period: FrameCount(480))
            #expect(card.granted.format == .mono)
            #expect(card.granted.sampleFormat == "S16_LE")
            var played = 0
            while played < sound.count {
                guard case .demand(let demand) = card.wait() else { continue }
                // Playback begins with silence, from which the queue learns how the card's position moves.
                if played == 0 { queued = demand.position.rawValue }
                #expect(demand.frameCount == card.granted.period)
                #expect(demand.position.rawValue == played + queued)
                let end = min(played + demand.frameCount.rawValue, sound.count)
                let levels = sound[played..<end].map(\.level)
                card.write(levels.span)
                played = end
            }
            card.drain()
            #expect(card.counts == InterruptionCounts())
        }
        let heard = try PrivateALSA.samples(in: "tape.raw")
        #expect(heard.prefix(queued).allSatisfy { $0 == 0 })
        #expect(Array(heard.dropFirst(queued)) == sound)
    }

    @Test func moreThanAPeriodMayBeWrittenAtOnce() throws {
        let sound = (0..<9_600).map { (index: Int) in Int16(truncatingIfNeeded: index &* 31) }
        var queued = 0
        do {
            var card = try PlaybackCard(device: "stereotape", format: .stereo, period: FrameCount(100))
            guard case .demand(let demand) = card.wait() else {
                Issue.record("the card was interrupted")
                return
            }
            queued = demand.position.rawValue * 2
            let levels = sound.map(\.level)
            card.write(levels.span)
        }
        #expect(try Array(PrivateALSA.samples(in: "stereotape.raw").dropFirst(queued)) == sound)
    }

    @Test func captureIsBitExact() throws {
        let sound = (0..<9_600).map { (index: Int) in Int16(truncatingIfNeeded: index &* 104_729) }
        try PrivateALSA.write(sound, to: "microphone.raw")
        var card = try CaptureCard(device: "microphone", period: FrameCount(240), frame: FrameCount(960))
        #expect(card.frame == FrameCount(960))
        var heard: [Int16] = []
        var frame = [Float](repeating: 9, count: card.frame.rawValue)
        while heard.count < sound.count {
            var span = frame.mutableSpan
            guard case .captured = card.read(into: &span) else {
                Issue.record("the card was interrupted")
                return
            }
            heard += frame.map { level in
                var sample: Int16 = 0
                sample.level = level
                return sample
            }
        }
        #expect(heard == sound)
    }

    @Test func aCardThatIsNoClockIsPaced() throws {
        var card = try PlaybackCard(device: "null", period: FrameCount(480))
        let silence = [Float](repeating: 0, count: 480)
        let start = ContinuousClock.now
        for _ in 0..<100 {
            guard case .demand = card.wait() else { continue }
            card.write(silence.span)
        }
        // The card paces one second of audio, of which a third may be taken at once. A slow machine only adds to the
        // time.
        #expect(ContinuousClock.now - start > .milliseconds(600))
    }

    /// The first demands are as even as the later ones: no burst fills the PCM.
    @Test(arguments: [240, 480, 960]) func aPCMWithoutAClockIsPacedFromTheFirstDemand(period: Int) throws {
        var card = try PlaybackCard(device: "null", period: FrameCount(period))
        let silence = [Float](repeating: 0, count: period)
        var times: [Instant] = []
        while times.count < 20 {
            guard case .demand(let demand) = card.wait() else { continue }
            times.append(demand.requestedAt)
            card.write(silence.span)
        }
        let length = FrameCount(period).duration()
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == length }, "\(times)")
    }

    @Test func aMicrophoneThatIsNoClockIsPaced() throws {
        var card = try CaptureCard(device: "null", period: FrameCount(480))
        var frame = [Float](repeating: 9, count: 480)
        let start = ContinuousClock.now
        for _ in 0..<100 {
            var span = frame.mutableSpan
            _ = card.read(into: &span)
        }
        #expect(ContinuousClock.now - start > .milliseconds(600))
    }

    @Test func anUnknownNameIsReportedWithTheRemedy() {
        for name in ["hw:7", "nonsense", "plughw:CARD=Nobody", ""] {
            #expect(failure(playingOn: name) == .noSuchDevice(name))
        }
        #expect(
            "\(SoundCardError.noSuchDevice("hw:7"))"
                == "no sound card named 'hw:7': `tenfour devices` lists the cards")
    }

    @Test func aCardThatOnlyHearsCannotPlay() throws {
        #expect(failure(playingOn: "earonly") == .wrongDirection("earonly", .playback))
        _ = try CaptureCard(device: "earonly", period: FrameCount(480))
    }

    @Test func everyErrorIsOneSentenceWithARemedy() {
        #expect("\(SoundCardError.noCard("default"))".hasPrefix("this machine has no sound card: plug one in"))
        let errors: [SoundCardError] = [
            .noSuchDevice("x"), .noServer("x", explanation: ""), .noServer("x", explanation: "why"),
            .busy("x", holder: "mpv"), .busy("x", holder: nil), .notPermitted("x"),
            .wrongDirection("x", .capture), .noCommonFormat("x"),
            .failed("x", call: "snd_pcm_open", code: -5, explanation: "why"),
        ]
        for error in errors {
            let text = "\(error)"
            #expect(text.contains("'x'"))
            #expect(text.contains(":") && !text.contains("\n"))
        }
        #expect("\(SoundCardError.busy("hw:0", holder: "mpv"))".contains("in use by mpv"))
    }

    @Test func codesOfOpeningBecomeReasons() {
        #expect(SoundCardError(opening: "nonsense", .playback, code: -EBUSY) == .busy("nonsense", holder: nil))
        #expect(SoundCardError(opening: "nonsense", .playback, code: -EACCES) == .notPermitted("nonsense"))
        #expect(SoundCardError(opening: "nonsense", .playback, code: -ENODEV) == .noSuchDevice("nonsense"))
        guard case .noServer("nonsense", _) = SoundCardError(opening: "nonsense", .playback, code: -ECONNREFUSED) else {
            Issue.record("PulseAudio's plugin says so where no server listens")
            return
        }
    }

    @Test func theHolderOfACardIsFoundInTheKernelsFiles() throws {
        #expect(hardware(named: "hw:1,2")! == ("1", 2))
        #expect(hardware(named: "plughw:CARD=USB,DEV=3")! == ("USB", 3))
        #expect(hardware(named: "hw:USB")! == ("USB", 0))
        #expect(hardware(named: "default") == nil)
        #expect(hardware(named: "dmix:1") == nil)
        let root = PrivateALSA.directory + "/proc"
        let files = FileManager.default
        try files.createDirectory(atPath: root + "/asound/card1/pcm2p/sub0", withIntermediateDirectories: true)
        try files.createDirectory(atPath: root + "/4711", withIntermediateDirectories: true)
        try "state: RUNNING\nowner_pid   : 4711\n".write(
            toFile: root + "/asound/card1/pcm2p/sub0/status", atomically: true, encoding: .utf8)
        try "mpv\n".write(toFile: root + "/4711/comm", atomically: true, encoding: .utf8)
        #expect(holder(ofCardNamed: "hw:1,2", .playback, root: root) == "mpv")
        #expect(holder(ofCardNamed: "hw:1,2", .capture, root: root) == nil)
        #expect(holder(ofCardNamed: "default", .playback, root: root) == nil)
    }

    @Test func theListTellsWhatEachDeviceGrants() throws {
        let devices = Device.list()
        let null = try #require(devices.first { $0.name == "null" })
        guard case .grants(let abilities) = null.playback, case .grants = null.capture else {
            Issue.record("null grants everything")
            return
        }
        #expect(abilities.rates.contains(.opus))
        #expect(abilities.sampleFormats == ["S16_LE", "S32_LE", "FLOAT_LE", "S24_3LE", "S24_LE"])
        #expect(abilities.channelCounts.contains(2))
        let microphone = try #require(devices.first { $0.name == "microphone" })
        #expect(microphone.description == "A microphone that hears a file")
        let ear = try #require(devices.first { $0.name == "earonly" })
        #expect(ear.playback == .nothing)
        guard case .grants = ear.capture else {
            Issue.record("the device cannot capture")
            return
        }
        #expect(Set(devices.map(\.name)).count == devices.count)
        #expect(!devices.contains { $0.name.hasPrefix("surround") })
    }

    @Test func twoThreadsListAtOnce() async {
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { Device.list().count } }
            var counts: Set<Int> = []
            for await count in group { counts.insert(count) }
            #expect(counts.count == 1)
        }
    }

    private func failure(playingOn name: String) -> SoundCardError? {
        do throws(SoundCardError) {
            _ = try PlaybackCard(device: name, period: FrameCount(480))
            return nil
        } catch {
            return error
        }
    }
}
