import Foundation
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourPushToTalk

/// The user of this thread's file accesses. The kernel keeps one for each thread.
@_silgen_name("setfsuid") private func setFileUser(_ user: UInt32) -> Int32

struct RemedyTests {
    /// Root may read everything, so that the search runs as nobody where root runs the tests.
    private func asOrdinaryUser<Result>(_ body: () -> Result) -> Result {
        guard geteuid() == 0 else { return body() }
        _ = setFileUser(65_534)
        defer { _ = setFileUser(0) }
        return body()
    }

    @Test func anInputDeviceThatMayNotBeReadNamesItsRule() throws {
        let tree = DeviceTree()
        unsafe chmod(tree.root, 0o755)
        tree.describe(input: "event5", name: #"Foot "Pedal", Inc.*"#, keys: [183])
        let pedal = tree.pipe("input/event5")
        unsafe chmod(tree.path("input/event5"), 0)
        var finder = try EvdevFinder(key: "KEY_F13", device: nil, grabs: false, tree.paths)
        let search = asOrdinaryUser { finder.find(except: []) }
        let rule = #"SUBSYSTEM=="input", KERNEL=="event*", ATTRS{name}=="Foot ?Pedal?, Inc.?", TAG+="uaccess""#
        #expect(search.devices.isEmpty && search.problem?.kind == .notPermitted)
        let text = search.problem?.description ?? ""
        #expect(
            text.hasPrefix(
                #"'Foot "Pedal", Inc.*' (\#(tree.path("input/event5"))) may not be read: put this line into"#))
        #expect(text.contains(" /etc/udev/rules.d/70-tenfour-ptt.rules, then"))
        #expect(text.contains(rule) && text.hasSuffix("sudo usermod -aG input $USER, then log in again"), "\(text)")
        withExtendedLifetime(pedal) {}
    }

    @Test func aHIDDeviceThatMayNotBeReadNamesItsRule() throws {
        let tree = DeviceTree()
        unsafe chmod(tree.root, 0o755)
        tree.describe(hid: "hidraw3", name: "Headset", id: "0003:00000B0E:0000245D", descriptor: HIDDescriptors.headset)
        let headset = tree.pipe("hidraw3")
        unsafe chmod(tree.path("hidraw3"), 0)
        var finder = HIDFinder(device: nil, button: nil, isActiveLow: false, tree.paths)
        let search = asOrdinaryUser { finder.find(except: []) }
        #expect(search.devices.isEmpty && search.problem?.kind == .notPermitted)
        let text = search.problem?.description ?? ""
        #expect(
            text.contains(#": SUBSYSTEM=="hidraw", KERNELS=="*:0B0E:245D.*", TAG+="uaccess". For a user"#), "\(text)")
        withExtendedLifetime(headset) {}
    }

    @Test func aNameCannotAddToARule() {
        #expect(Remedy.pattern("a\", RUN+=\"/bin/sh\"\nb\u{202E}$c") == "a?, RUN+=?/bin/sh??b??c")
        for character in #""\*?[]|$%"# { #expect(Remedy.pattern(String(character)) == "?") }
        #expect(Remedy.pattern("Line\nfeed ü") == "Line?feed ?")
    }

    @Test func theMostHelpfulProblemIsKept() {
        var search = DeviceSearch()
        search.record(PTTDeviceError(.notFound, "a"))
        search.record(PTTDeviceError(.notPermitted, "b"))
        search.record(PTTDeviceError(.notFound, "c"))
        search.record(PTTDeviceError(.notPermitted, "d"))
        #expect(search.problem?.description == "b")
    }

    @Test func theWordsOfSysfsAreReadFromTheRight() {
        #expect(SysfsInput.words("1 0 ff") == [0xFF, 0, 1])
        #expect(SysfsInput.words("") == [] && SysfsInput.words("x") == [0])
        let known = SysfsHID(uevent: "HID_ID=0005:0000054C:00000CE6\nHID_NAME=a=b", [])
        #expect(known.vendor == 0x054C && known.product == 0x0CE6 && known.name == "a=b")
        #expect(SysfsHID(uevent: "HID_ID=0003:zz:1:2\n\n=", [1]).vendor == 0)
        #expect(CM108.isChip(vendor: 0x0D8C, product: 0x0C) && !CM108.isChip(vendor: 0x0D8C, product: 0x10))
        #expect(!CM108.isChip(vendor: 0x0D8D, product: 0x0C))
    }

    @Test func theFolderIsWatchedAgainAfterItsEndAndAfterLostEvents() {
        let events = [
            InotifyEvent(.created, name: "event5"), InotifyEvent(.attributesChanged),
            InotifyEvent(.attributesChanged, name: "mouse0"),
        ]
        #expect(FolderWatch.names(in: events) == ["event5", "", "mouse0"])
        #expect(FolderWatch.names(in: events + [InotifyEvent(.ended)]) == nil)
        #expect(FolderWatch.names(in: events + [InotifyEvent(.overflow)]) == nil)
    }
}
