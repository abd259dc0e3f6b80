import Foundation
import Synchronization
import TenfourAudioCore
import TenfourClocks
import TestSupport
import Testing

@testable import TenfourPushToTalk

/// Folders that stand for /dev and /sys, with pipes as devices. Removed with the object.
final class DeviceTree: Sendable {
    let root: String

    init() {
        var template = Array("\(Folder.temporary)/tenfour-devices-XXXXXX".utf8CString)
        root = unsafe template.withUnsafeMutableBufferPointer { unsafe String(cString: mkdtemp($0.baseAddress!)) }
        for folder in ["dev/input", "sys/class/input", "sys/class/hidraw"] { make(folder) }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    var paths: SystemPaths {
        var paths = SystemPaths()
        (paths.devices, paths.sysfs) = ("\(root)/dev", "\(root)/sys")
        return paths
    }

    func path(_ name: String) -> String { "\(root)/dev/\(name)" }

    func make(_ folder: String) {
        try! FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
    }

    func write(_ bytes: [UInt8], to path: String) {
        _ = FileManager.default.createFile(atPath: path, contents: Data(bytes))
    }

    /// Makes a pipe that stands for a device, and returns its writing end.
    func pipe(_ name: String) -> PipeEnd {
        #expect(unsafe mkfifo(path(name), 0o600) == 0)
        return PipeEnd(path(name))
    }

    /// Describes an input device in sysfs.
    func describe(input file: String, name: String, keys: [UInt16]) {
        let folder = "sys/class/input/\(file)/device"
        make("\(folder)/capabilities")
        var words = [UInt64](repeating: 0, count: 12)
        for key in keys { words[Int(key) / 64] |= 1 << UInt64(key % 64) }
        let first = words.lastIndex { $0 != 0 } ?? 0
        let text = words[...first].reversed().map { String($0, radix: 16) }.joined(separator: " ")
        write(Array("\(name)\n".utf8), to: "\(root)/\(folder)/name")
        write(Array("\(text)\n".utf8), to: "\(root)/\(folder)/capabilities/key")
    }

    /// Describes a HID device in sysfs.
    func describe(hid file: String, name: String, id: String, descriptor: [UInt8]) {
        let folder = "sys/class/hidraw/\(file)/device"
        make(folder)
        write(Array("DRIVER=hid-generic\nHID_ID=\(id)\nHID_NAME=\(name)\n".utf8), to: "\(root)/\(folder)/uevent")
        write(descriptor, to: "\(root)/\(folder)/report_descriptor")
    }
}

/// The writing end of a pipe that stands for a device.
final class PipeEnd: Sendable {
    private let descriptor: Mutex<Int32>

    /// Opens the pipe without waiting for its reader.
    init(_ path: String) {
        descriptor = Mutex(unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC))
        #expect(descriptor.withLock { $0 } >= 0)
    }

    deinit { unplug() }

    /// Closes the end: for the reader the device is gone.
    func unplug() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    func write(_ bytes: [UInt8]) {
        while !offer(bytes) { usleep(1_000) }
    }

    /// Writes at most 4096 bytes, which a pipe takes as a whole or not at all. Returns false if it is full.
    func offer(_ bytes: [UInt8]) -> Bool {
        descriptor.withLock { unsafe Foundation.write($0, bytes, bytes.count) } == bytes.count
    }

    /// Writes an event of an input device, followed by its report.
    func write(key: UInt16, _ value: Int32, at time: Instant = MonotonicClock.now) {
        write(InputEvent(time: time, type: 1, code: key, value: value).bytes)
        write(InputEvent(time: time, type: 0, code: 0, value: 0).bytes)
    }
}

extension InputEvent {
    /// `struct input_event` of this machine.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) { unsafe withUnsafeBytes(of: value) { bytes += unsafe Array($0) } }
        append(Int(time.nanoseconds / 1_000_000_000))
        append(Int(time.nanoseconds % 1_000_000_000 / 1_000))
        append(type)
        append(code)
        append(value)
        return bytes
    }
}

/// The events of a source.
final class PTTEventLog: Sendable {
    private let state = Mutex([(event: PTTEvent, arrival: Instant)]())

    var events: [PTTEvent] { state.withLock { $0.map(\.event) } }
    /// The times at which the events were reported.
    var arrivals: [Instant] { state.withLock { $0.map(\.arrival) } }
    /// The events as words, with a problem as its kind and devices as their names.
    var words: [String] { events.map(\.word) }
    var problem: String? {
        for event in events.reversed() { if case .gone(let problem) = event.change { return problem.description } }
        return nil
    }

    func add(_ event: PTTEvent) {
        let now = MonotonicClock.now
        state.withLock { $0.append((event, now)) }
    }

    /// Waits until the log has this number of events. Records an issue if it does not within `time`.
    @discardableResult
    func wait(
        for count: Int, _ time: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation
    ) -> [String] {
        let deadline = ContinuousClock.now + time
        while events.count < count {
            guard ContinuousClock.now < deadline else {
                Issue.record("there were only \(words)", sourceLocation: sourceLocation)
                break
            }
            usleep(1_000)
        }
        return words
    }
}

extension PTTEvent {
    fileprivate var word: String {
        switch change {
        case .pressed: "pressed"
        case .released: "released"
        case .gone(let problem): "gone: \(problem.kind)"
        case .back(let devices): "back: \(names(devices))"
        case .changed(let devices): "changed: \(names(devices))"
        }
    }
}

private func names(_ devices: [PTTDeviceInfo]) -> String {
    devices.map { $0.name + ($0.isHeld ? " held" : "") }.joined(separator: ", ")
}

extension PTTSource {
    /// Starts to read the source's devices of `tree`.
    func start(_ tree: DeviceTree, grabs: Bool = false, gpiod: String? = nil, _ log: PTTEventLog) throws -> PTTDevices {
        var paths = tree.paths
        if let gpiod { paths.gpiod = gpiod }
        let devices = try PTTDevices(self, grabs: grabs, paths)
        devices.start { log.add($0) }
        return devices
    }
}
