import TenfourPushToTalk
import TenfourSeededRandom
import Testing

struct PTTSourceTests {
    @Test(arguments: [
        ("evdev:KEY_F13", PTTSource.evdev(key: "KEY_F13", device: nil)),
        ("evdev:f13@Foot, Inc. Pedal @ home", .evdev(key: "F13", device: .name("Foot, Inc. Pedal @ home"))),
        ("evdev:183@/dev/input/event5", .evdev(key: "183", device: .path("/dev/input/event5"))),
        ("gpio:PTT", .gpio(line: "PTT", isActiveLow: false, bias: nil)),
        ("gpio:PTT,active-low,pull-up", .gpio(line: "PTT", isActiveLow: true, bias: .pullUp)),
        ("gpio:PTT,no-bias", .gpio(line: "PTT", isActiveLow: false, bias: .disabled)),
        ("gpio:pin 3, left", .gpio(line: "pin 3, left", isActiveLow: false, bias: nil)),
        ("hid", .hid(device: nil, button: nil, isActiveLow: false)),
        ("hid,button=hook", .hid(device: nil, button: .hook, isActiveLow: false)),
        ("hid:Jabra", .hid(device: .name("Jabra"), button: nil, isActiveLow: false)),
        (
            "hid:/dev/hidraw3,button=gpio3,active-low",
            .hid(device: .path("/dev/hidraw3"), button: .pin(3), isActiveLow: true)
        ),
        ("hid:Pedal,button=button12", .hid(device: .name("Pedal"), button: .number(12), isActiveLow: false)),
    ])
    func anArgumentIsParsedAndWrittenAgain(text: String, source: PTTSource) throws {
        #expect(try PTTSource(parsing: text) == source)
        #expect(try PTTSource(parsing: source.description) == source)
        #expect(PTTSource(argument: text) == source)
    }

    @Test(arguments: [
        ("", "is no kind of device; write evdev:KEY_F13"),
        ("serial:/dev/ttyS0", "'serial' is no kind of device"),
        ("evdev", "evdev needs the name of a key"),
        ("evdev:", "evdev needs the name of a key"),
        ("evdev:KEY F13", "evdev needs the name of a key"),
        ("evdev:KEY_F13@", "there is no device after '@'; write evdev:KEY_F13@NAME"),
        ("gpio", "gpio needs the name of a line"),
        ("gpio:,active-low", "gpio needs the name of a line"),
        ("gpio:PTT,pull-up,pull-down", "',pull-down' cannot be used here"),
        ("gpio:PTT,activelow", "',activelow' cannot be used here; a line has ,active-low"),
        ("hid:", "hid needs a name or a path after ':'"),
        ("hidraw", "'hidraw' is no kind of device"),
        ("hid:Jabra,hook", "',hook' cannot be used here; a HID device has ,button=BUTTON"),
        ("hid:Jabra,button=thumb", "'thumb' is no button; the buttons are hook, mute,"),
        ("hid:Jabra,button=button0", "'button0' is no button"),
        ("hid:Jabra,button=gpio9", "'gpio9' is no button"),
        ("hid:a\u{1B}[2J", "control characters"),
        ("hid:" + String(repeating: "a", count: 600), "longer than 512 bytes"),
    ])
    func aWrongArgumentIsToldWithItsRemedy(text: String, sentence: String) {
        do {
            let source = try PTTSource(parsing: text)
            Issue.record("\(source)")
        } catch {
            #expect(error.kind == .invalid && error.description.contains(sentence), "\(error)")
        }
        #expect(PTTSource(argument: text) == nil)
    }

    @Test func everyButtonHasItsName() {
        let buttons: [HIDButton] = [.hook, .mute, .programmable, .play, .volumeUp, .volumeDown, .recordMute]
        for button in buttons + (1...64).map({ .number($0) }) + (1...8).map({ .pin($0) }) {
            #expect(HIDButton(button.name) == button)
        }
        for name in ["", "button", "button65", "button-1", "button+1", "gpio0", "Hook"] {
            #expect(HIDButton(name) == nil)
        }
    }

    @Test func whatIsParsedFromRandomTextReadsTheSameWhenWritten() {
        var randomness = SeededRandom(seed: 18)
        let parts = [
            "evdev", "gpio", "hid", ":", ",", "@", "/", "KEY_F13", "active-low", "pull-up", "no-bias", "button=",
            "hook",
            "gpio3", " ", "ü", "Name", "=", "x",
        ]
        var parsedCount = 0
        for _ in 0..<20_000 {
            let text = (0..<Int(2 + randomness.next() % 7)).map { _ in
                parts[Int(randomness.next() % UInt64(parts.count))]
            }
            guard let source = PTTSource(argument: text.joined()) else { continue }
            parsedCount += 1
            #expect(PTTSource(argument: source.description) == source, "\(text)")
        }
        #expect(parsedCount > 100)
    }
}
