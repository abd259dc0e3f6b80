import Foundation
import TenfourAudioCore
import TenfourClocks
import TestSupport
import Testing

@testable import TenfourPushToTalk

/// Input devices that are pipes.
@Suite(.onItsOwnThread) struct EvdevDevicesTests {
    private let tree = DeviceTree()
    private let log = PTTEventLog()
    private let source = PTTSource.evdev(key: "KEY_F13", device: nil)

    @Test func aKeyIsReportedWithTheKernelsTime() throws {
        let pedal = tree.pipe("input/event4")
        let devices = try source.start(tree, log)
        log.wait(for: 1)
        // The kernel's times have microseconds.
        let now = Instant(nanoseconds: MonotonicClock.now.nanoseconds / 1_000_000 * 1_000_000)
        pedal.write(key: 183, 1, at: now - .milliseconds(40))
        pedal.write(key: 183, 2, at: now - .milliseconds(30))
        pedal.write(key: 30, 0, at: now - .milliseconds(20))
        pedal.write(key: 183, 0, at: now - .milliseconds(10))
        try #require(log.wait(for: 3) == ["back: event4", "pressed", "released"])
        #expect(log.events[1].time == now - .milliseconds(40) && log.events[2].time == now - .milliseconds(10))
        devices.stop()
        #expect(log.words.count == 3)
    }

    @Test func everyPressIsReported() throws {
        let pedal = tree.pipe("input/event4")
        let devices = try source.start(tree, log)
        log.wait(for: 1)
        var delays: [Duration] = []
        for press in 0..<100 {
            for value: Int32 in [1, 0] {
                let time = MonotonicClock.now
                pedal.write(key: 183, value, at: time)
                let count = 2 + press * 2 + (value == 1 ? 0 : 1)
                log.wait(for: count)
                delays.append(log.arrivals[count - 1] - time)
            }
        }
        #expect(log.words.dropFirst() == (0..<200).map { $0 % 2 == 0 ? "pressed" : "released" }[...])
        delays.sort()
        print("key to closure: median \(delays[100]), longest \(delays[199])")
        devices.stop()
    }

    @Test func anUnpluggedDeviceIsReleasedAndFoundAgain() throws {
        let pedal = tree.pipe("input/event4")
        let devices = try source.start(tree, log)
        log.wait(for: 1)
        pedal.write(key: 183, 1)
        log.wait(for: 2)
        pedal.unplug()
        #expect(log.wait(for: 4) == ["back: event4", "pressed", "released", "gone: notFound"])
        #expect(log.problem == "the device was unplugged; plug it in again")
        unsafe unlink(tree.path("input/event4"))
        let again = tree.pipe("input/event4")
        #expect(log.wait(for: 5).last == "back: event4")
        again.write(key: 183, 1)
        #expect(log.wait(for: 6).last == "pressed")
        devices.stop()
        #expect(log.words.last == "released")
    }

    @Test(.inRealTime) func aHundredUnpluggedDevicesAreReleasedWithinHalfASecond() throws {
        var longest = Duration.zero
        for round in 0..<100 {
            let log = PTTEventLog()
            let pedal = tree.pipe("input/event\(round)")
            let devices = try source.start(tree, log)
            log.wait(for: 1)
            pedal.write(key: 183, 1)
            log.wait(for: 2)
            let start = MonotonicClock.now
            pedal.unplug()
            log.wait(for: 4)
            #expect(log.words.dropFirst() == ["pressed", "released", "gone: notFound"])
            longest = max(longest, log.events[2].time - start)
            devices.stop()
            unsafe unlink(tree.path("input/event\(round)"))
        }
        print("unplugged to released: longest \(longest)")
        #expect(longest <= .milliseconds(500))
    }

    @Test func allDevicesWithTheKeyAreReadAndTheOthersAreNot() throws {
        tree.describe(input: "event0", name: "Keyboard", keys: [1, 30])
        tree.describe(input: "event1", name: "Pedal", keys: [183])
        tree.describe(input: "event10", name: "Macro pad\u{1B}", keys: [30, 183, 184])
        let pipes = ["input/event0", "input/event1", "input/event10", "input/mouse0"].map { tree.pipe($0) }
        let devices = try source.start(tree, log)
        #expect(log.wait(for: 1) == ["back: Pedal, Macro pad\u{FFFD}"])
        pipes[0].write(key: 183, 1)
        pipes[1].write(key: 183, 1)
        log.wait(for: 2)
        pipes[1].unplug()
        #expect(log.wait(for: 4).dropFirst() == ["pressed", "released", "changed: Macro pad\u{FFFD}"])
        pipes[2].write(key: 183, 1)
        #expect(log.wait(for: 5).last == "pressed")
        // An earlier end of the pipes would unplug the device.
        withExtendedLifetime(pipes) { devices.stop() }
    }

    @Test func aDeviceIsNamedByAPartOfItsName() throws {
        tree.describe(input: "event0", name: "ACME Keyboard", keys: [183])
        tree.describe(input: "event1", name: "ACME Foot Pedal", keys: [183])
        let pipes = ["input/event0", "input/event1"].map { tree.pipe($0) }
        let devices = try PTTSource.evdev(key: "F13", device: .name("foot")).start(tree, log)
        #expect(log.wait(for: 1) == ["back: ACME Foot Pedal"])
        devices.stop()
        withExtendedLifetime(pipes) {}
    }

    @Test func aSecondDeviceThatIsPluggedInLeavesAKeyPressed() throws {
        let first = tree.pipe("input/event1")
        let devices = try source.start(tree, log)
        log.wait(for: 1)
        first.write(key: 183, 1)
        log.wait(for: 2)
        let second = tree.pipe("input/event2")
        #expect(log.wait(for: 3) == ["back: event1", "pressed", "changed: event1, event2"])
        second.write(key: 183, 1)
        second.unplug()
        #expect(log.wait(for: 4).last == "changed: event1")
        first.write(key: 183, 0)
        #expect(log.wait(for: 5).last == "released")
        devices.stop()
    }

    @Test func aDeviceThatIsPluggedInLaterIsFound() throws {
        let devices = try PTTSource.evdev(key: "KEY_F13", device: .name("pedal")).start(tree, log)
        #expect(log.wait(for: 1) == ["gone: notFound"])
        #expect(log.problem?.contains("no input device with 'pedal' in its name has the key KEY_F13") ?? false)
        tree.describe(input: "event7", name: "Pedal", keys: [183])
        let pedal = tree.pipe("input/event7")
        #expect(log.wait(for: 2).last == "back: Pedal")
        pedal.write(key: 183, 1)
        #expect(log.wait(for: 3).last == "pressed")
        devices.stop()
    }

    /// Without an input device there is no folder /dev/input, so nothing tells of the first one. It takes a second.
    @Test func theFirstDeviceOfAMachineIsFound() throws {
        unsafe rmdir(tree.path("input"))
        let devices = try source.start(tree, log)
        #expect(log.wait(for: 1) == ["gone: notFound"])
        tree.make("dev/input")
        let pedal = tree.pipe("input/event0")
        #expect(log.wait(for: 2).last == "back: event0")
        devices.stop()
        withExtendedLifetime(pedal) {}
    }

    @Test func aRecordingIsPlayedOnce() throws {
        let path = tree.path("recording")
        let press: [(UInt16, UInt16, Int32)] = [(1, 183, 1), (0, 0, 0), (1, 183, 0), (0, 0, 0), (1, 183, 1)]
        let events = press.map { InputEvent(time: .start, type: $0.0, code: $0.1, value: $0.2) }
        tree.write(events.flatMap(\.bytes) + [1, 2, 3], to: path)
        let devices = try PTTSource.evdev(key: "183", device: .path(path)).start(tree, log)
        let before = MonotonicClock.now
        log.wait(for: 6)
        #expect(
            log.words.dropFirst() == ["pressed", "released", "pressed", "released", "gone: notFound"])
        // Times of a recording are those at which it is read.
        #expect(log.events[1].time > before - .seconds(10))
        usleep(1_500_000)
        #expect(log.words.count == 6)
        devices.stop()
    }

    @Test func aFileThatIsNoDeviceIsRefused() throws {
        for (path, sentence) in [
            (tree.path("nothing"), "there is no device \(tree.path("nothing")); plug it in"),
            ("/dev/zero", "/dev/zero is no input device"),
            (tree.root, "\(tree.root) cannot be opened: Invalid argument"),
        ] {
            let log = PTTEventLog()
            let devices = try PTTSource.evdev(key: "KEY_F13", device: .path(path)).start(tree, log)
            log.wait(for: 1)
            #expect(log.problem?.hasPrefix(sentence) ?? false, "\(log.problem ?? "")")
            devices.stop()
        }
    }

    @Test func whatNoWaitingCanChangeIsToldAtOnce() throws {
        for (key, device, grabs, sentence) in [
            ("KEY_F99", nil, false, "there is no key called KEY_F99"),
            ("768", nil, false, "there is no key called 768"),
            ("KEY_F13", nil, true, "--ptt-grab would take your keyboard away"),
        ] as [(String, DeviceSelector?, Bool, String)] {
            do {
                _ = try PTTSource.evdev(key: key, device: device).start(tree, grabs: grabs, log)
                Issue.record("\(key) was accepted")
            } catch let error as PTTDeviceError {
                #expect(error.kind == .invalid && error.description.hasPrefix(sentence), "\(error)")
            }
        }
        #expect(throws: PTTDeviceError.self) { try PTTSource(parsing: "hid").start(tree, grabs: true, log) }
        #expect(log.events.isEmpty)
    }

    @Test func keysHaveTheNamesOfLibevdev() throws {
        let evdev = try Evdev("libevdev.so.2")
        for (name, code) in [("KEY_F13", 183), ("F13", 183), ("BTN_TRIGGER", 288), ("TRIGGER", 288), ("57", 57)] {
            #expect(evdev.key(named: name) == UInt16(code))
        }
        for name in ["", "KEY_", "KEY_RESERVED", "0", "65536", "REL_X"] { #expect(evdev.key(named: name) == nil) }
        #expect(evdev.name(ofKey: 183) == "KEY_F13" && evdev.name(ofKey: 84) == "key 84")
    }

    @Test func withoutLibevdevThereIsASentenceThatBringsIt() {
        expectMissingLibrary("libevdev", package: "libevdev2") { _ = try Evdev($0) }
    }
}
