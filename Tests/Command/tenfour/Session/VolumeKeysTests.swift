import TenfourAudioCore
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourVoiceProcessing
import Testing

@testable import tenfour

/// The keys for volumes, with sessions that were not started.
struct VolumeKeysTests {
    private let control: VolumeControl
    private var keys: VolumeKeys
    private let sessions: [RadioSession]
    private let anna = ListedTalker(place: .init(session: 0, ssrc: SSRC(1)), name: "Anna")
    private let ben = ListedTalker(place: .init(session: 1, ssrc: SSRC(2)), name: "Ben")

    init() throws {
        sessions = try (0..<2).map { _ in
            var configuration = RadioConfiguration(
                local: Endpoint(.loopbackV4, port: 0), rtpSession: RTPSessionConfiguration())
            configuration.output = .clock
            return try RadioSession(configuration)
        }
        control = VolumeControl(sessions)
        keys = VolumeKeys(control)
    }

    private func at(_ seconds: Int) -> Instant { .start + .seconds(seconds) }

    @discardableResult
    private mutating func press(
        _ key: Character, _ present: [ListedTalker]? = nil, at seconds: Int = 0
    ) -> VolumeKeys.Action? {
        keys.action(of: key, present ?? [anna, ben], at: at(seconds))
    }

    @Test mutating func nineAndZeroChangeTheVolumeOfAllSessions() {
        #expect(press("9") == .changed("volume -3 dB"))
        #expect(press("/") == .changed("volume -6 dB"))
        #expect(keys.view(at: .start).overall == "vol -6 dB")
        #expect(keys.view(at: at(2)).latest == "volume -6 dB" && keys.view(at: at(3)).latest == nil)
        #expect(sessions.allSatisfy { abs($0.volume - 0.501) < 0.001 })
        #expect(press("0") == .changed("volume -3 dB"))
        #expect(press("*") == .changed("volume 0 dB"))
        #expect(press("0") == .changed("volume 0 dB"), "not above the volume that was sent")
        #expect(sessions.allSatisfy { $0.volume == 1 } && keys.view(at: .start).overall == nil)
        for _ in 0..<40 { press("9") }
        #expect(control.overall == -60)
    }

    @Test mutating func aDigitBeforeTheListShowsTheList() {
        #expect(press("1") == .list)
    }

    @Test mutating func aTalkerIsChosenByTheNumberInTheList() {
        keys.number([anna, ben])
        #expect(keys.mark(SSRC(2), in: 1).prefix == "2 " && keys.mark(SSRC(2), in: 0).prefix == "  ")
        #expect(press("2") == .show("Ben: volume 0 dB; 9 and 0 lower and raise it, m mutes, 2 ends this"))
        #expect(press("0") == .changed("Ben: volume +3 dB"))
        #expect(keys.view(at: .start).latest?.whole == "Ben: volume +3 dB")
        #expect(control.text(of: ben.place) == "vol +3 dB" && control.text(of: anna.place) == nil)
        #expect(sessions[0].volume(of: SSRC(2)) == 1, "in its own channel only")
        for _ in 0..<9 { press("0") }
        #expect(control.volume(of: ben.place) == 12 && control.overall == 0)
        #expect(press("2") == .changed("9, 0 and m concern all again"))
        #expect(press("9") == .changed("volume -3 dB"))
    }

    @Test mutating func mMutesTheChosenTalkerAndKeepsTheVolume() {
        keys.number([anna, ben])
        #expect(press("m") == nil, "the speaker's")
        press("1")
        press("9")
        #expect(press("m") == .changed("Anna: muted"))
        #expect(sessions[0].volume(of: SSRC(1)) == 0 && keys.mark(SSRC(1), in: 0).volume == "muted")
        #expect(press("m") == .changed("Anna: volume -3 dB"))
        press("m")
        #expect(press("0") == .changed("Anna: volume 0 dB"), "a change lets the talker be heard")
    }

    @Test mutating func theChoiceEndsWithAnotherKeyOrAfterTenSeconds() {
        keys.number([anna, ben])
        press("1")
        #expect(press("r") == nil && press("m") == nil)
        press("1")
        press("9", at: 9)
        #expect(press("m", at: 18) == .changed("Anna: muted"))
        #expect(keys.view(at: at(29)).latest == nil)
        #expect(press("m", at: 29) == nil)
    }

    /// The numbers stay those of the list that the user has seen.
    @Test mutating func whoHasLeftIsNotChosen() {
        keys.number([anna, ben])
        #expect(press("1", [ben]) == .show("Anna is not here any more: w lists who is here"))
        #expect(press("3") == .show("nobody has the number 3: w lists who is here"))
    }

    @Test mutating func onlyEightHaveANumber() {
        let crowd = (1...20).map { ListedTalker(place: .init(session: 0, ssrc: SSRC(UInt32($0))), name: "T\($0)") }
        keys.number(crowd)
        #expect(keys.mark(SSRC(8), in: 0).number == 8 && keys.mark(SSRC(9), in: 0).number == nil)
    }

    @Test func aVolumeThatWasSetIsReadAsTheSame() {
        for decibels in stride(from: -60.0, through: 12, by: 0.5) {
            control.setVolume(decibels, of: anna.place)
            #expect(control.volume(of: anna.place) == decibels)
        }
        control.setVolume(100, of: anna.place)
        #expect(control.volume(of: anna.place) == 12)
    }

    @Test(arguments: [(0.0, -1, -3.0), (-1, -1, -3), (-1, 1, 0), (-4.5, 1, -3), (-3, 1, 0), (7, 1, 9)])
    func aStepGoesToTheNextMultiple(from: Double, count: Int, to: Double) {
        #expect(VolumeControl.stepped(from, by: count) == to)
    }
}

struct LevelNoticesTests {
    @Test func theSameAdviceIsToldOnceUntilATransmissionEndsWell() {
        var notices = LevelNotices()
        #expect(notices.lines(about: .tooQuiet, isOpen: false).isEmpty, "nobody is heard")
        #expect(
            notices.lines(about: .tooQuiet, isOpen: true) == [
                "your microphone is too quiet: come nearer, or start with a higher --microphone-gain"
            ])
        #expect(notices.lines(about: nil, isOpen: true).isEmpty)
        #expect(notices.lines(about: .tooQuiet, isOpen: true).isEmpty)
        #expect(notices.lines(about: .tooLoud, isOpen: true).first?.hasPrefix("your microphone is too loud") == true)
        #expect(notices.lines(about: .tooLoud, isOpen: false).isEmpty)
        #expect(notices.lines(about: .tooLoud, isOpen: true).isEmpty, "the transmission did not end well")
        #expect(notices.lines(about: nil, isOpen: true).isEmpty)
        #expect(notices.lines(about: nil, isOpen: false).isEmpty)
        #expect(notices.lines(about: .tooLoud, isOpen: true).count == 1)
    }
}
