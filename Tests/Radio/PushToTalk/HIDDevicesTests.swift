import Foundation
import TenfourAudioCore
import TenfourClocks
import TestSupport
import Testing

@testable import TenfourPushToTalk

/// HID devices that are pipes, described in folders that stand for sysfs.
@Suite(.onItsOwnThread) struct HIDDevicesTests {
    private let tree = DeviceTree()
    private let log = PTTEventLog()

    private func plug(
        _ file: String, _ name: String, id: String = "0003:00000B0E:0000245D", _ descriptor: [UInt8]
    ) -> PipeEnd {
        tree.describe(hid: file, name: name, id: id, descriptor: descriptor)
        return tree.pipe(file)
    }

    @Test func aHeadsetIsFoundByItselfAndAMouseIsNot() throws {
        let mouse = plug("hidraw0", "Mouse", HIDDescriptors.mouse)
        let headset = plug("hidraw1", "Headset", HIDDescriptors.headset)
        let devices = try PTTSource(parsing: "hid").start(tree, log)
        #expect(log.wait(for: 1) == ["back: Headset"])
        let before = MonotonicClock.now
        headset.write([1, 0xCD, 0, 0, 0, 2, 1, 2, 1, 2, 0])
        try #require(log.wait(for: 3).dropFirst() == ["pressed", "released"])
        #expect(log.events[1].time >= before && log.events[1].time <= MonotonicClock.now)
        headset.write([2, 1])
        log.wait(for: 4)
        headset.unplug()
        #expect(log.wait(for: 6).suffix(2) == ["released", "gone: notFound"])
        devices.stop()
        withExtendedLifetime(mouse) {}
    }

    @Test func aNamedDeviceMayHaveAnyButton() throws {
        let mouse = plug("hidraw0", "Mouse", HIDDescriptors.mouse)
        let pedal = plug("hidraw12", "Foot Switch", HIDDescriptors.pedal)
        for text in ["hid:foot", "hid:foot,button=button1", "hid:\(tree.path("hidraw12"))"] {
            let log = PTTEventLog()
            let devices = try PTTSource(parsing: text).start(tree, log)
            #expect(log.wait(for: 1) == ["back: Foot Switch"])
            pedal.write([1])
            log.wait(for: 2)
            pedal.write([0])
            #expect(log.wait(for: 3).dropFirst() == ["pressed", "released"])
            devices.stop()
        }
        withExtendedLifetime(mouse) {}
    }

    @Test func aCM108IsFoundByItselfAndItsPinsByName() throws {
        let chip = plug("hidraw0", "USB Audio", id: "0003:00000D8C:0000013A", HIDDescriptors.cm108)
        for (text, pressed, released) in [
            ("hid", [0b0010, 0, 0, 0], [0b1101, 0xFF, 0xFF, 0xFF]),
            ("hid,button=gpio3", [0, 0b100, 0, 0], [15, 0b011, 0, 0]),
            ("hid:usb audio,button=gpio3,active-low", [15, 0b011, 0, 0], [0, 0b100, 0, 0]),
            ("hid,button=record-mute", [0b1000, 0, 0, 0], [0b0111, 0, 0, 0]),
        ] as [(String, [UInt8], [UInt8])] {
            let log = PTTEventLog()
            let devices = try PTTSource(parsing: text).start(tree, log)
            #expect(log.wait(for: 1) == ["back: USB Audio"])
            chip.write(released + pressed + released)
            #expect(log.wait(for: 3).dropFirst() == ["pressed", "released"], "\(text)")
            devices.stop()
        }
    }

    @Test func aDeviceThatIsPluggedInLaterIsFound() throws {
        let devices = try PTTSource(parsing: "hid").start(tree, log)
        #expect(log.wait(for: 1) == ["gone: notFound"])
        let headset = plug("hidraw3", "Headset", HIDDescriptors.headset)
        #expect(log.wait(for: 2).last == "back: Headset")
        headset.write([2, 1])
        #expect(log.wait(for: 3).last == "pressed")
        devices.stop()
    }

    @Test func whatCannotBeUsedIsToldWithItsRemedy() throws {
        let mouse = plug("hidraw0", "Mouse\u{07}", HIDDescriptors.mouse)
        let broken = plug("hidraw1", "Broken", [0x05])
        for (text, sentence) in [
            ("hid", "no headset with a telephony button and no CM108 is there; plug one in"),
            ("hid:jabra", "no HID device has 'jabra' in its name; plug it in"),
            (
                "hid:mouse,button=hook",
                "'Mouse\u{FFFD}' (\(tree.path("hidraw0"))) has no button hook; `tenfour devices --ptt`"
            ),
            ("hid:broken", "'Broken' (\(tree.path("hidraw1"))) has no button that can be used to talk"),
            ("hid:/dev/null", "/dev/null is no HID device"),
            ("hid:/nothing", "there is no device /nothing; plug it in"),
        ] {
            let log = PTTEventLog()
            let devices = try PTTSource(parsing: text).start(tree, log)
            #expect(log.wait(for: 1).first?.hasPrefix("gone") ?? false)
            #expect(log.problem?.hasPrefix(sentence) ?? false, "\(log.problem ?? "")")
            devices.stop()
        }
        withExtendedLifetime((mouse, broken)) {}
    }

    @Test func aListNamesTheDevicesAndTheirButtons() {
        let headset = plug("hidraw1", "Headset", HIDDescriptors.headset)
        let chip = plug("hidraw10", "USB Audio", id: "0003:00000D8C:0000000C", HIDDescriptors.cm108)
        tree.describe(input: "event2", name: "Pedal", keys: [183])
        tree.describe(input: "event10", name: "Keyboard\n", keys: [1, 2, 3, 4, 5, 6])
        tree.describe(input: "event1", name: "Power", keys: [])
        #expect(
            PTTDeviceList.lines(tree.paths) == [
                "evdev:KEY@\(tree.path("input/event2"))  'Pedal': KEY_F13",
                "evdev:KEY@\(tree.path("input/event10"))  'Keyboard': KEY_ESC, KEY_1, KEY_2, KEY_3 and 2 more keys",
                "hid:\(tree.path("hidraw1"))  'Headset': hook; with ,button= also mute, programmable, play, volume-down, volume-up",
                "hid:\(tree.path("hidraw10"))  'USB Audio': volume-down; with ,button= also mute, volume-up, record-mute, gpio1, gpio2, gpio3, gpio4",
                "no GPIO line with a name (gpio)",
            ])
        #expect(PTTDeviceList.lines(DeviceTree().paths).count == 3)
        #expect(!PTTDeviceList.lines().isEmpty)
        withExtendedLifetime((headset, chip)) {}
    }
}
