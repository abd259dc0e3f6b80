internal import CGPIOD
internal import Glibc
internal import TenfourAudioCore

/// The name of a line, and how its switch is wired.
struct GPIOLineSettings: Hashable, Sendable {
    var name: String
    /// Whether a pressed switch pulls the line low.
    var isActiveLow: Bool
    var bias: GPIOBias?

    init(_ name: String, isActiveLow: Bool, bias: GPIOBias?) {
        (self.name, self.isActiveLow, self.bias) = (name, isActiveLow, bias)
    }

    /// The flags of `gpiod_line_request`.
    var flags: Int {
        let bias =
            switch self.bias {
            case .pullUp: CGPIOD_PULL_UP
            case .pullDown: CGPIOD_PULL_DOWN
            case .disabled: CGPIOD_BIAS_DISABLE
            case nil: 0
            }
        return Int(bias) | (isActiveLow ? Int(CGPIOD_ACTIVE_LOW) : 0)
    }
}

/// A GPIO line whose edges the kernel reports. Not tried on hardware. The C functions are `gpiod_line_find`,
/// `gpiod_line_request`, `gpiod_line_event_read_fd_multiple` and `gpiod_line_close_chip`.
///
/// The kernel inverts the level of an active-low line, so that 1 always means a pressed switch.
@safe final class GPIOLine: OpenDevice {
    private let library: GPIOLibrary
    private let line: OpaquePointer
    private var debouncer: Debouncer
    let descriptor: Int32
    let info: PTTDeviceInfo

    /// The most edges that the kernel keeps for a line.
    private static let edgeCount = 16

    /// Finds the line by its name on all chips, and requests its events. Throws the problem with its remedy.
    init(_ settings: GPIOLineSettings, _ library: GPIOLibrary) throws(PTTDeviceError) {
        let functions = library.functions
        guard let line = unsafe functions.gpiod_line_find(settings.name) else {
            throw Self.error(SystemError(code: errno), settings, consumer: nil)
        }
        let code = unsafe "tenfour".withCString { name -> Int32 in
            var request = unsafe gpiod_line_request_config(
                consumer: name, request_type: Int32(CGPIOD_EVENT_BOTH_EDGES), flags: Int32(settings.flags))
            return unsafe functions.gpiod_line_request(line, &request, 0) == 0 ? 0 : errno
        }
        guard code == 0 else {
            let consumer = unsafe functions.gpiod_line_consumer(line).map { unsafe String(cString: $0) }
            unsafe functions.gpiod_line_close_chip(line)
            throw Self.error(SystemError(code: code), settings, consumer: consumer)
        }
        unsafe (self.library, self.line) = (library, line)
        descriptor = unsafe functions.gpiod_line_event_get_fd(line)
        let isActive = unsafe functions.gpiod_line_get_value(line) == 1
        debouncer = Debouncer(isActive: isActive)
        info = PTTDeviceInfo(name: settings.name, path: "gpio:\(settings.name)", isHeld: isActive)
    }

    /// Closing the chip also releases the line.
    deinit { unsafe library.functions.gpiod_line_close_chip(line) }

    var deadline: Instant? { debouncer.deadline }

    func read(at now: Instant, _ changed: (Bool, Instant) -> Void) -> DeviceFile.Result {
        var events = [gpiod_line_event](repeating: gpiod_line_event(), count: Self.edgeCount)
        // Called only when there is something to read, for it would wait.
        let count = unsafe library.functions.gpiod_line_event_read_fd_multiple(
            descriptor, &events, UInt32(Self.edgeCount))
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? .read : .ended }
        for event in events.prefix(Int(count)) {
            let time = Instant(nanoseconds: Int64(event.ts.tv_sec) &* 1_000_000_000 &+ Int64(event.ts.tv_nsec))
            tell(
                debouncer.edge(
                    to: Int(event.event_type) == CGPIOD_RISING_EDGE, at: .plausible(time, now: now)), changed)
        }
        return count == Self.edgeCount ? .full : .read
    }

    func timeElapsed(at now: Instant, _ changed: (Bool, Instant) -> Void) {
        let value = unsafe library.functions.gpiod_line_get_value(line)
        tell(debouncer.timeElapsed(at: now, level: value < 0 ? nil : value == 1), changed)
    }

    private func tell(_ change: Debouncer.Change?, _ changed: (Bool, Instant) -> Void) {
        if let change { changed(change.isActive, change.time) }
    }

    private static func error(_ error: SystemError, _ settings: GPIOLineSettings, consumer: String?) -> PTTDeviceError {
        let name = String(fromPeer: settings.name)
        switch error.code {
        case _ where error.isRefused: return Remedy.gpioNotPermitted(name)
        case _ where error.isMissing:
            return PTTDeviceError(
                .notFound, "there is no GPIO line called \(name); `gpioinfo` (apt-get install gpiod) lists the names")
        case EBUSY:
            let user = consumer.map { "'\(String(fromPeer: $0))'" } ?? "another program"
            return PTTDeviceError(
                .busy,
                "the GPIO line \(name) is in use by \(user); end that program, take its overlay out of config.txt, or name another line"
            )
        case EINVAL, ENOTSUP, ENOSYS, ENOTTY:
            return PTTDeviceError(
                .failed,
                "the GPIO line \(name) cannot be read this way (\(error.text)); leave out pull-up, pull-down or no-bias, and use a resistor"
            )
        default:
            return PTTDeviceError(.failed, "the GPIO line \(name) cannot be read: \(error.text); name another line")
        }
    }
}

/// Looks for a GPIO line.
struct GPIOFinder: DeviceFinder, Sendable {
    private let library: GPIOLibrary
    private let settings: GPIOLineSettings
    let folder: String

    init(_ library: GPIOLibrary, _ settings: GPIOLineSettings, _ paths: SystemPaths) {
        (self.library, self.settings, folder) = (library, settings, paths.devices)
    }

    var findsSeveral: Bool { false }

    func isDevice(_ name: String) -> Bool { name.hasPrefix("gpiochip") }

    mutating func find(except open: Set<String>) -> DeviceSearch {
        var search = DeviceSearch()
        do throws(PTTDeviceError) {
            search.devices.append(try GPIOLine(settings, library))
        } catch {
            search.record(error)
        }
        return search
    }
}
