import TenfourAudioCore
import TenfourCommandSupport
import TenfourFloor
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TenfourSoundCard
import TenfourVoiceProcessing
import Testing

@testable import TenfourRadio
@testable import tenfour

/// The status line of a talk, as it is drawn in terminals of several sizes. The session was not started.
struct StatusLineTests {
    private let session: RadioSession
    private let observer: SessionObserver
    private let rtpSession = RTPSessionConfiguration()
    private static let endpoint = Endpoint(.v4(0x0A00_0007), port: 5004)
    private static let wideName = String(repeating: "東", count: 40)

    /// A terminal, in columns and rows. The last column stays empty.
    private struct Screen {
        var columns: Int, rows: Int
        var width: Int { columns - 1 }
        var lineCount: Int { rows > 4 ? 2 : 1 }
    }

    private static let screens = [
        Screen(columns: 20, rows: 5), Screen(columns: 40, rows: 10), Screen(columns: 80, rows: 24),
    ]

    init() throws {
        var configuration = RadioConfiguration(local: Endpoint(.loopbackV4, port: 0), rtpSession: rtpSession)
        configuration.output = .clock
        session = try RadioSession(configuration)
        observer = SessionObserver(session, configuration, microphone: nil, verbose: false, keepsSeconds: false)
    }

    /// A session whose status line is drawn.
    private struct Scene {
        var names: [String]
        var hearing: HearingState? = .hears
        var isMuted = false
        var isOpen = true
        /// The number of talkers who talk; the others are silent.
        var talkingCount = 1
        var volumeChange: StatusText?
        /// Whether the talkers are on the air and nothing arrives.
        var isMissing = false
        /// The state of the floor and, unless this station or nobody has it, the one who has.
        var floor: (state: FloorParticipant.State, talker: UInt32?)?
        var isEmergency = false
    }

    private func fields(_ scene: Scene) -> StatusFields {
        session.isSpeakerMuted = scene.isMuted
        session.isMicrophoneOpen = scene.isOpen
        var snapshot = RadioSnapshot(
            rtpSession: RTPSession(identity: Identity(ssrc: SSRC(1)), configuration: rtpSession, at: .start),
            elapsed: .seconds(1))
        snapshot.capture = .init(
            level: Level(decibels: -12), levelHistory: LevelHistory(), xrunCount: 0, missed: .zero, overrunCount: 0,
            isCardLost: false, silentChannel: nil, levelAdvice: nil, realTime: .notAsked)
        snapshot.playback = .init(
            levelHistory: LevelHistory(), xrunCount: 0, missed: .zero, isCardLost: false, realTime: .notAsked,
            unrecordedSampleCount: 0, crowdedOutCount: 0, decoder: DecoderSnapshot(simulating: .plain))
        for (index, name) in scene.names.enumerated() {
            let ssrc = SSRC(UInt32(index + 2))
            _ = observer.apply(.reporterAppeared(ssrc, name, from: Self.endpoint))
            var talker = RadioSnapshot.TalkerSnapshot(ssrc: ssrc)
            (talker.endpoint, talker.isHeard) = (Self.endpoint, index < scene.talkingCount)
            talker.level = index < scene.talkingCount ? Level(decibels: -9) : .floor
            snapshot.talkers.append(talker)
            guard scene.isMissing else { continue }
            snapshot.participants.append(
                .init(
                    ssrc: ssrc, name: name, endpoint: Self.endpoint, isSending: false, isMissing: true,
                    outage: .seconds(2), age: .seconds(9), sendingAge: .seconds(2)))
        }
        snapshot.floor = scene.floor.map { floor in
            FloorSnapshot(
                isNeeded: true, state: floor.state, talker: floor.talker.map { SSRC($0) },
                isEmergency: scene.isEmergency, heldFor: .milliseconds(12_900), otherEnd: .arbitrates)
        }
        if let state = scene.hearing {
            snapshot.hearings = [Hearing(ssrc: SSRC(2), endpoint: Self.endpoint, state: state)]
        }
        var line = StatusLine(hasPartner: true)
        let volumes = VolumeView(latest: scene.volumeChange, volumes: VolumeControl([session]))
        return line.fields(snapshot, observer, ProcessStopMonitor(), volumes)
    }

    private func lines(_ scene: Scene, _ screen: Screen) -> [String] {
        fields(scene).layout(width: screen.width, lineCount: screen.lineCount).lines()
    }

    // MARK: Screens

    /// A name of 40 wide letters on three screens.
    @Test func whatMattersMostIsShownOnEveryScreen() {
        let scenes = [Scene(names: [Self.wideName], isMuted: true), Scene(names: [Self.wideName])]
        let drawn = Self.screens.map { screen in scenes.map { lines($0, screen) } }
        #expect(
            drawn == [
                [["ON AIR heard", "東東東東東東… muted"], ["ON AIR heard 東東…"]],
                [
                    ["ON AIR  heard  |  東東東東東…  |  muted"],
                    ["ON AIR  heard  |  東東東東東東東東東東…"],
                ],
                [
                    ["ON AIR  heard  -12 dBFS  |  東東東東東…   -9 dBFS  delay 0 ms  |  speaker muted"],
                    ["ON AIR  heard  -12 dBFS  0.0 kbit/s  |  東東東東東東東東…   -9 dBFS  delay 0 ms"],
                ],
            ])
    }

    @Test func aNarrowScreenShowsTroubleToo() {
        let narrow = Self.screens[0]
        func shown(_ hearing: HearingState?, isOpen: Bool = true) -> [String] {
            lines(Scene(names: ["Benjamin"], hearing: hearing, isMuted: true, isOpen: isOpen), narrow)
        }
        #expect(shown(.hearsNothing) == ["ON AIR NOT HEARD", "Benjamin muted"])
        #expect(shown(.muted) == ["ON AIR NOT HEARD", "Benjamin muted"])
        #expect(shown(.hearsBadly(missingShare: 0.2)) == ["ON AIR heard badly", "Benjamin muted"])
        #expect(shown(nil) == ["ON AIR Benja… muted"])
        #expect(shown(nil, isOpen: false) == ["mic off Benjamin", "muted"])
        #expect(lines(Scene(names: [], hearing: nil, isOpen: false), narrow) == ["mic off  |  nobody"])
    }

    /// That nothing arrives matters more than how long the list is, or the figures of what has arrived.
    @Test func missingAudioIsShownOnEveryScreen() {
        let scene = Scene(names: ["Alice"], hearing: .noAnswer, talkingCount: 0, isMissing: true)
        let drawn = Self.screens.map { lines(scene, $0) }
        #expect(
            drawn == [
                ["ON AIR no answer", "Alice not arriving"], ["ON AIR no answer Alice not arriving"],
                ["ON AIR  no answer  -12 dBFS  |  1 here  |  Alice  not arriving  delay 0 ms"],
            ])
    }

    @Test func whoHasTheFloorAndForHowLongIsShown() {
        func shown(_ name: String, _ state: FloorParticipant.State, isEmergency: Bool = false) -> [[String]] {
            let isOpen = state == .permission
            let scene = Scene(
                names: [name], hearing: isOpen ? .hears : nil, isOpen: isOpen,
                floor: (state, isOpen ? nil : 2), isEmergency: isEmergency)
            return Self.screens.map { lines(scene, $0) }
        }
        #expect(
            shown("Bob", .noPermission) == [
                ["mic off Bob"], ["mic off  |  floor Bob 0:12  |  Bob"],
                ["mic closed  -12 dBFS  |  Bob has the floor 0:12  |  Bob   -9 dBFS  delay 0 ms"],
            ])
        #expect(shown(Self.wideName, .noPermission)[1] == ["mic off  |  floor 東東… 0:12  |  東東…"])
        #expect(shown("Bob", .permission)[1] == ["ON AIR  heard  |  floor 0:12  |  Bob"])
        #expect(
            shown("Bob", .noPermission, isEmergency: true).map { $0[0] } == [
                "mic off Bob", "mic off  |  EMERGENCY  |  Bob",
                "mic closed  -12 dBFS  |  EMERGENCY: Bob 0:12  |  Bob   -9 dBFS  delay 0 ms",
            ])
    }

    /// Who waits in the queue must see that the turn comes.
    @Test func thePlaceInTheQueueIsShownOnEveryScreen() {
        let waiting = FloorParticipant.State.queued(position: 1, size: 2)
        func shown(_ name: String, isMuted: Bool = false) -> [[String]] {
            let scene = Scene(names: [name], hearing: nil, isMuted: isMuted, isOpen: false, floor: (waiting, 2))
            return Self.screens.map { lines(scene, $0) }
        }
        #expect(
            shown("Bob") == [
                ["mic off queue 1/2", "Bob"], ["mic closed  |  waiting, 1 of 2  |  Bob"],
                ["mic closed  -12 dBFS  |  waiting, 1 of 2  |  Bob   -9 dBFS  delay 0 ms"],
            ])
        #expect(shown(Self.wideName, isMuted: true)[0] == ["mic off queue 1/2", "東東東東東東… muted"])
        #expect(shown(Self.wideName, isMuted: true)[1].joined().contains("queue 1/2"))
    }

    /// The one who talks is named, and the others are counted.
    @Test func ofSeveralTheOneWhoTalksIsNamed() {
        let scene = Scene(names: ["Anna", "Benjamin", "Cleo"], talkingCount: 2)
        #expect(lines(scene, Self.screens[0]) == ["ON AIR heard Anna+2"])
        let all = lines(Scene(names: ["Anna", "Benjamin", "Cleo"], talkingCount: 3), Self.screens[1])
        #expect(all == ["ON AIR  heard  |  Anna+1  |  Benjamin"])
    }

    /// A key's change is told by a line where the status line has no room for it.
    @Test func aChangeHasRoomOrNot() {
        let muted = fields(Scene(names: [Self.wideName], isMuted: true))
        for screen in Self.screens {
            #expect(muted.layout(width: screen.width, lineCount: screen.lineCount).roles.contains(.mute))
        }
        #expect(!muted.layout(width: 13, lineCount: 1).roles.contains(.mute))
        let changed = fields(Scene(names: ["Anna"], volumeChange: "volume -6 dB"))
        #expect(changed.layout(width: 79).roles.contains(.volumeChange))
        #expect(!changed.layout(width: 19, lineCount: 2).roles.contains(.volumeChange))
    }

    // MARK: Chance

    private static let letters = [
        "a", "W", "ä", "e\u{301}", "東", "한", "\u{1112}\u{1161}\u{11AB}", "क्षि", "👍", "👍🏽", "👨‍👩‍👧‍👦", "❤️", "🇩🇪", "ﷺ", "\u{200B}",
        "x\u{300}\u{301}\u{302}",
    ]

    /// Names, states and widths of a seed: no line is wider than the terminal, and the four facts are there from 20 columns
    /// on.
    @Test func noLineIsWiderThanTheTerminal() {
        var chance = SeededRandom(seed: 20)
        let states: [HearingState?] = [
            nil, .notYetKnown, .hears, .hearsBadly(missingShare: 0.3), .hearsNothing, .muted, .noOutput, .playsNothing,
            .noAnswer, .refused,
        ]
        for _ in 0..<400 {
            let names = (0..<Int.random(in: 0...4, using: &chance)).map { _ in
                (0..<Int.random(in: 1...60, using: &chance)).map { _ in
                    Self.letters.randomElement(using: &chance) ?? "a"
                }.joined()
            }
            let isOpen = chance.happens(0.7)
            let scene = Scene(
                names: names, hearing: states.randomElement(using: &chance) ?? nil,
                isMuted: chance.happens(0.5), isOpen: isOpen,
                talkingCount: Int.random(in: 0...4, using: &chance),
                volumeChange: chance.happens(0.3) ? "volume -12 dB" : nil,
                floor: !isOpen && chance.happens(0.5) ? (.queued(position: 12, size: 30), 2) : nil)
            let fields = fields(scene)
            for width in [1, 2, 3, 7, 11, 19, 20, 26, 39, 79, Int.random(in: 1...200, using: &chance)] {
                for lineCount in 1...2 {
                    let lines = fields.layout(width: width, lineCount: lineCount).lines()
                    #expect(!lines.isEmpty && lines.count <= lineCount)
                    #expect(lines.allSatisfy { $0.columnCount <= width }, "\(lines) in \(width)")
                    if width >= 19, lineCount == 2 { expectFacts(of: scene, in: lines) }
                }
            }
        }
    }

    private func expectFacts(of scene: Scene, in lines: [String]) {
        let text = lines.joined(separator: " ")
        #expect(text.contains(scene.isOpen ? "ON AIR" : "mic "), "\(lines)")
        #expect(text.contains("muted") || !scene.isMuted, "\(lines)")
        if scene.floor != nil, !scene.isOpen {
            #expect(text.contains("12 of 30") || text.contains("queue 12/30"), "\(lines)")
        }
        if scene.isOpen, let state = scene.hearing,
            let words = HearingSummary([Hearing(ssrc: SSRC(2), endpoint: Self.endpoint, state: state)])
        {
            #expect(text.contains(words.short?.whole ?? words.text), "\(lines)")
        }
        guard !scene.names.isEmpty else { return #expect(text.contains("nobody"), "\(lines)") }
        let talker = scene.names[0].cut(toColumns: 24)
        #expect((1...24).contains { text.contains(talker.cut(toColumns: $0)) }, "\(talker) in \(lines)")
    }
}
