import Foundation
import TenfourAudioCore
import TenfourClocks
import TestSupport
import Testing

@testable import TenfourPushToTalk

/// GPIO lines of Tests/TestSupport/Libraries/gpiodfake.c, which stands for libgpiod.
@Suite(.onItsOwnThread) struct GPIODevicesTests {
    private let tree = DeviceTree()
    private let log = PTTEventLog()
    private let library: String

    private static let folder = Folder()
    private static let built = Result { () throws -> String in
        let library = folder("gpiodfake.so")
        let source = Repository.path("Tests/TestSupport/Libraries/gpiodfake.c")
        let ended = try Program.run("cc", ["-O2", "-shared", "-fPIC", "-o", library, source])
        try #require(ended.end == .code(0), "\(ended.errors)")
        return library
    }

    init() throws { library = try Self.built.get() }

    private func start(isActiveLow: Bool = false, bias: GPIOBias? = nil) throws -> PTTDevices {
        try PTTSource.gpio(line: tree.path("PTT"), isActiveLow: isActiveLow, bias: bias).start(
            tree, gpiod: library, log)
    }

    /// Sets the level of the line, and then writes its edges, each with its age in milliseconds.
    private func move(_ line: PipeEnd, to isActive: Bool, _ edges: [(isRising: Bool, Int)]) -> Instant {
        let now = MonotonicClock.now
        tree.write(Array((isActive ? "1" : "0").utf8), to: tree.path("PTT.value"))
        var bytes: [UInt8] = []
        for (isRising, milliseconds) in edges {
            let time = (now - .milliseconds(milliseconds)).nanoseconds
            for number in [time / 1_000_000_000, time % 1_000_000_000, isRising ? 1 : 2] {
                unsafe withUnsafeBytes(of: number) { bytes += unsafe Array($0) }
            }
        }
        line.write(bytes)
        return now
    }

    @Test func aSwitchIsPressedAndReleasedWithoutItsBounces() throws {
        let line = tree.pipe("PTT")
        let devices = try start(isActiveLow: true, bias: .pullUp)
        #expect(log.wait(for: 1) == ["back: \(tree.path("PTT"))"])
        // The consumer, both edges, and the flags of libgpiod for active-low and pull-up.
        #expect(Folder.text(of: tree.path("PTT.request")) == "tenfour 6 36")
        let pressed = move(line, to: true, [(true, 4), (false, 3), (true, 2), (false, 1), (true, 0)])
        log.wait(for: 2)
        let released = move(line, to: false, [(false, 2), (true, 1), (false, 0)])
        try #require(log.wait(for: 3).dropFirst() == ["pressed", "released"])
        #expect(log.events[1].time == pressed - .milliseconds(4) && log.events[2].time == released - .milliseconds(2))
        devices.stop()
    }

    @Test func everyBiasHasItsFlag() throws {
        for (bias, flags) in [(.pullUp, 32), (.pullDown, 16), (.disabled, 8), (nil, 0)] as [(GPIOBias?, Int)] {
            #expect(GPIOLineSettings("PTT", isActiveLow: false, bias: bias).flags == flags)
            #expect(GPIOLineSettings("PTT", isActiveLow: true, bias: bias).flags == flags + 4)
        }
    }

    @Test func aGlitchIsNoPress() throws {
        let line = tree.pipe("PTT")
        let devices = try start()
        log.wait(for: 1)
        _ = move(line, to: false, [(true, 1), (false, 0)])
        usleep(50_000)
        _ = move(line, to: true, [(true, 0)])
        #expect(log.wait(for: 2).last == "pressed")
        devices.stop()
        #expect(log.words.dropFirst() == ["pressed", "released"])
    }

    @Test func aLineThatIsActiveAtFirstIsToldAndDoesNotOpenTheMicrophone() throws {
        let line = tree.pipe("PTT")
        tree.write(Array("1".utf8), to: tree.path("PTT.value"))
        let devices = try start()
        #expect(log.wait(for: 1) == ["back: \(tree.path("PTT")) held"])
        // A thread that is late may find the line pressed again before it has seen the release.
        for _ in 0..<100 where log.words.count < 2 {
            _ = move(line, to: false, [(false, 0)])
            usleep(50_000)
            _ = move(line, to: true, [(true, 0)])
            usleep(50_000)
        }
        #expect(log.words.prefix(2).last == "pressed")
        devices.stop()
    }

    @Test func aChipThatIsUnpluggedReleasesItsLine() throws {
        let line = tree.pipe("PTT")
        let devices = try start()
        log.wait(for: 1)
        _ = move(line, to: true, [(true, 0)])
        log.wait(for: 2)
        line.unplug()
        #expect(log.wait(for: 4).dropFirst() == ["pressed", "released", "gone: notFound"])
        devices.stop()
    }

    @Test func aLineThatCannotBeUsedIsToldWithItsRemedy() throws {
        let name = tree.path("PTT")
        func problem(_ file: String?, _ bias: GPIOBias? = nil) throws -> String {
            let log = PTTEventLog()
            if let file { tree.write(Array("i2c-gpio\u{1B}".utf8), to: "\(name).\(file)") }
            let source = PTTSource.gpio(line: name, isActiveLow: false, bias: bias)
            let devices = try source.start(tree, gpiod: library, log)
            log.wait(for: 1)
            devices.stop()
            if let file { unsafe unlink("\(name).\(file)") }
            return "\(log.words.last ?? ""), \(log.problem ?? "")"
        }
        #expect(try problem(nil).hasPrefix("gone: notFound, there is no GPIO line called \(name); `gpioinfo`"))
        let line = tree.pipe("PTT")
        #expect(
            try problem("busy").hasPrefix("gone: busy, the GPIO line \(name) is in use by 'i2c-gpio\u{FFFD}'; end that")
        )
        let denied = try problem("denied")
        #expect(denied.hasPrefix("gone: notPermitted, the GPIO line \(name) may not be requested: join the group gpio"))
        #expect(denied.hasSuffix(#"SUBSYSTEM=="gpio", KERNEL=="gpiochip*", GROUP="gpio", MODE="0660""#))
        #expect(try problem("nobias", .pullUp).contains("leave out pull-up, pull-down or no-bias, and use a resistor"))
        withExtendedLifetime(line) {}
    }

    @Test func aListNamesTheLinesAndTheirUsers() throws {
        var paths = tree.paths
        paths.gpiod = library
        tree.write([], to: tree.path("gpiochip0"))
        let lines = PTTDeviceList.lines(paths)
        #expect(
            lines.suffix(4) == [
                "gpio:ID_SDA  line 0 of gpiochip0, in use by 'i2c1'", "gpio:PTT  line 2 of gpiochip0",
                "gpio:ID_SDA  line 0 of gpiochip1, in use by 'i2c1'", "gpio:PTT  line 2 of gpiochip1",
            ])
    }

    @Test func withoutLibgpiodThereIsASentenceThatBringsIt() {
        expectMissingLibrary("libgpiod", package: "libgpiod2") { _ = try GPIOLibrary($0) }
    }

    /// With the header of libgpiod 1.6, where it is installed: Debian 13 has that of libgpiod 2.
    @Test func ourDeclarationsAreThoseOfLibgpiod() throws {
        guard try Program.run("pkg-config", ["--max-version=1.99", "libgpiod"]).end == .code(0) else { return }
        let source = Repository.path("Tests/TestSupport/Libraries/gpiodheader.c")
        let ended = try Program.run("cc", ["-w", "-fsyntax-only", source])
        #expect(ended.end == .code(0), "\(ended.errors)")
    }

    /// With the real library, on a machine that has no such line.
    @Test func theRealLibraryFindsNoSuchLine() throws {
        guard let library = try? GPIOLibrary("libgpiod.so.2") else { return }
        do {
            _ = try GPIOLine(GPIOLineSettings("tenfour has no such line", isActiveLow: false, bias: nil), library)
            Issue.record("there is such a line")
        } catch {
            #expect(error.kind == .notFound || error.kind == .notPermitted, "\(error)")
        }
    }
}
