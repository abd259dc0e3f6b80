import Testing

@testable import tenfour

struct MicrophoneOpeningTests {
    @Test func withoutAKeyboardTheDevicesAreNamed() {
        var opening = MicrophoneOpening(devices: ["evdev:KEY_F13", "gpio:PTT"], isReachable: true)
        #expect(opening.text == "the microphone is closed: hold evdev:KEY_F13 or gpio:PTT to talk")
        opening.beganOpen = true
        #expect(opening.text == "the microphone is open")
    }

    @Test func withoutAnyKeyTheRemedyIsTold() {
        var opening = MicrophoneOpening()
        #expect(opening.text == "the microphone is closed, and there is no keyboard to open it: start with --open")
        opening.isReachable = true
        #expect(opening.text.hasSuffix("start with --open, or run tenfour ptt toggle"))
    }

    @Test func theKeyOfTheTerminalIsTold() {
        var opening = MicrophoneOpening(hasKeyboard: true, devices: ["hid"])
        #expect(opening.text == "the microphone is closed: space opens it")
        opening.reportsReleases = true
        #expect(opening.text == "the microphone is closed: hold space to talk")
    }
}
