import TenfourDBus
import TenfourPlayer
import Testing

@testable import TenfourDesktop

private let player = "org.mpris.MediaPlayer2.Player"
private let properties = "org.freedesktop.DBus.Properties"

/// What calls by other programs mean, without a bus.
struct MPRISObjectTests {
    private let fake = ControlledPlayer()

    private func call(
        _ interface: String, _ member: String, _ signature: String = "", _ arguments: [BusValue]? = [],
        path: String = "/org/mpris/MediaPlayer2"
    ) -> BusReply {
        MPRISObject.answer(
            BusCall(
                sender: ":1.1", path: path, interface: interface, member: member, signature: signature,
                arguments: arguments), by: fake
        ).reply
    }

    private func errorName(_ reply: BusReply) -> String? {
        guard case .error(let name, let message) = reply, !message.isEmpty else { return nil }
        return name.hasPrefix("org.freedesktop.DBus.Error.") ? String(name.dropFirst(27)) : name
    }

    private func property(_ name: String) -> BusValue? {
        guard case .values(let values) = call(properties, "Get", "ss", [.text(player), .text(name)]),
            case .variant(let value)? = values.first
        else { return nil }
        return value
    }

    @Test func eachMethodIsACommand() {
        for member in ["Next", "Previous", "Pause", "PlayPause", "Stop", "Play"] {
            #expect(call(player, member) == .values([]))
        }
        #expect(call("org.mpris.MediaPlayer2", "Quit") == .values([]))
        #expect(call("org.mpris.MediaPlayer2", "Raise") == .values([]))
        #expect(fake.commands == [.next, .previous, .pause, .playPause, .stop, .play, .quit])
    }

    @Test func aCallWithoutAnInterfaceIsUnderstood() {
        #expect(call("", "Pause") == .values([]))
        #expect(fake.commands == [.pause])
    }

    @Test func aSeekBehindTheEndPlaysTheNextItem() {
        #expect(call(player, "Seek", "x", [.int64(5_000_000)]) == .values([]))
        #expect(call(player, "Seek", "x", [.int64(-90_000_000)]) == .values([]))
        #expect(call(player, "Seek", "x", [.int64(70_000_001)]) == .values([]))
        #expect(call(player, "Seek", "x", [.int64(.max)]) == .values([]))
        #expect(fake.commands == [.seekBy(.seconds(5)), .seekBy(.seconds(-90)), .next, .next])
        fake.remoteState.hasNext = false
        #expect(call(player, "Seek", "x", [.int64(.max)]) == .values([]))
        #expect(call(player, "Next") == .values([]))
        #expect(fake.commands.count == 4)
    }

    @Test func aPositionIsSetOnlyInTheItemThatIsHeard() {
        func set(_ path: String, _ position: Int64) -> BusReply {
            call(player, "SetPosition", "ox", [.objectPath(path), .int64(position)])
        }
        #expect(set("/org/tenfour/track/0_1", 1_000_000) == .values([]))
        #expect(set("/", 1_000_000) == .values([]))
        #expect(set("/org/tenfour/track/0_0", -1) == .values([]))
        #expect(set("/org/tenfour/track/0_0", 100_000_001) == .values([]))
        #expect(fake.commands == [])
        #expect(set("/org/tenfour/track/0_0", 1_000_000) == .values([]))
        #expect(fake.commands == [.seekTo(.seconds(1))])
        fake.remoteState.isSeekable = false
        #expect(set("/org/tenfour/track/0_0", 2_000_000) == .values([]))
        #expect(call(player, "Seek", "x", [.int64(1)]) == .values([]))
        #expect(fake.commands.count == 1)
    }

    @Test func wrongCallsAreAnsweredWithTheirErrors() {
        #expect(errorName(call(player, "Seek", "s", [.text("5")])) == "InvalidArgs")
        #expect(errorName(call(player, "Seek")) == "InvalidArgs")
        #expect(errorName(call(player, "SetPosition", "ox", nil)) == "InvalidArgs")
        #expect(errorName(call(player, "SetPosition", "sx", [.text("/"), .int64(0)])) == "InvalidArgs")
        #expect(errorName(call(player, "Explode")) == "UnknownMethod")
        #expect(errorName(call("", "Explode")) == "UnknownMethod")
        #expect(errorName(call("org.example.Bomb", "Play")) == "UnknownInterface")
        #expect(errorName(call(player, "Play", path: "/org/example")) == "UnknownObject")
        #expect(errorName(call(properties, "Get", "ss", [.text(player), .text("Colour")])) == "UnknownProperty")
        #expect(errorName(call(properties, "GetAll", "s", [.text("org.example")])) == "UnknownInterface")
        #expect(errorName(call(player, "OpenUri", "s", [.text("gopher://x")])) == "Failed")
        #expect(fake.commands == [.open("gopher://x")])
    }

    @Test func propertiesAreSetWithinTheirLimits() {
        func set(_ name: String, _ value: BusValue, of interface: String = player) -> BusReply {
            call(properties, "Set", "ssv", [.text(interface), .text(name), .variant(value)])
        }
        #expect(set("Volume", .double(-3)) == .values([]))
        #expect(set("Volume", .double(3)) == .values([]))
        #expect(set("Rate", .double(100)) == .values([]))
        #expect(set("Rate", .double(0)) == .values([]))
        #expect(set("LoopStatus", .text("Playlist")) == .values([]))
        #expect(set("LoopStatus", .text("Track")) == .values([]))
        #expect(set("LoopStatus", .text("None")) == .values([]))
        #expect(set("Shuffle", .bool(true)) == .values([]))
        #expect(
            fake.commands == [
                .volume(0), .volume(1), .rate(32), .pause, .repeats(.all), .repeats(.one), .repeats(.none),
                .shuffle(true),
            ])
        #expect(errorName(set("LoopStatus", .text("Twice"))) == "InvalidArgs")
        #expect(errorName(set("Shuffle", .text("yes"))) == "InvalidArgs")
        #expect(errorName(set("Volume", .double(.nan))) == "InvalidArgs")
        #expect(errorName(set("Volume", .text("loud"))) == "InvalidArgs")
        #expect(errorName(set("Rate", .double(.infinity))) == "InvalidArgs")
        #expect(errorName(set("PlaybackStatus", .text("Paused"))) == "PropertyReadOnly")
        #expect(errorName(set("Identity", .text("mpv"), of: "org.mpris.MediaPlayer2")) == "PropertyReadOnly")
        #expect(errorName(set("Colour", .text("red"))) == "UnknownProperty")
        #expect(fake.commands.count == 8)
    }

    @Test func metadataAreSafeToShow() throws {
        fake.remoteState.item?.title = "One\u{1B}[2J\u{7}" + String(repeating: "x", count: 10_000)
        fake.remoteState.item?.artist = "Somebody"
        fake.remoteState.item?.album = "Album"
        fake.remoteState.item?.url = "file:///tmp/one.wav"
        guard case .properties(let values)? = property("Metadata"), case .text(let title)? = values["xesam:title"]
        else {
            Issue.record("no metadata")
            return
        }
        #expect(!title.contains("\u{1B}") && title.unicodeScalars.count <= 301)
        #expect(values["mpris:trackid"] == .objectPath("/org/tenfour/track/0_0"))
        #expect(values["mpris:length"] == .int64(100_000_000))
        #expect(values["xesam:artist"] == .texts(["Somebody"]))
        #expect(values["xesam:album"] == .text("Album"))
        #expect(values["xesam:url"] == .text("file:///tmp/one.wav"))
        fake.remoteState.item = nil
        let none = BusValue.objectPath("/org/mpris/MediaPlayer2/TrackList/NoTrack")
        #expect(property("Metadata") == .properties(["mpris:trackid": none]))
        #expect(property("CanPlay") == .bool(false))
    }

    @Test func thePositionIsInMicroseconds() {
        #expect(property("Position") == .int64(30_000_000))
        #expect(property("PlaybackStatus") == .text("Playing"))
    }

    /// Every property and method of the pages is there, and the other way round.
    @Test func theDescriptionNamesWhatIsThere() throws {
        guard case .values(let values) = call("org.freedesktop.DBus.Introspectable", "Introspect"),
            case .text(let page)? = values.first
        else {
            Issue.record("no description")
            return
        }
        for interface in MPRISObject.Interface.allCases {
            let start = try #require(page.firstRange(of: "<interface name=\"\(interface.rawValue)\">"))
            let part = page[start.upperBound...].prefix(
                upTo: try #require(
                    page[start.upperBound...].firstRange(of: "</interface>")
                ).lowerBound)
            let methods = Set(part.matches(of: /<method name="(\w+)"/).map { String($0.output.1) })
            let named = Set(part.matches(of: /<property name="(\w+)"/).map { String($0.output.1) })
            #expect(methods == Set(interface.methods.keys))
            #expect(named == Set((MPRISProperties.all(of: interface.rawValue, fake.remoteState) ?? [:]).keys))
        }
        #expect(MPRISIntrospection.page(of: "/org")?.contains("node name=\"mpris\"") == true)
        #expect(MPRISIntrospection.page(of: "/")?.contains("node name=\"org\"") == true)
        #expect(MPRISIntrospection.page(of: "/orgy") == nil)
    }
}
