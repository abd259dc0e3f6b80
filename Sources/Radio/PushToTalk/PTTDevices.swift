internal import TenfourAudioCore
internal import TenfourClocks
internal import TenfourSystem

/// Reads the devices of one source on a thread of its own, and looks for them again for as long as it lives.
///
/// Any thread may call any method. A device that is unplugged releases its key at once. It is looked for when the
/// kernel tells of a new device, and otherwise with pauses of one second to five. Not tried on hardware yet.
public final class PTTDevices: Sendable {
    public let source: PTTSource
    private let finder: any DeviceFinder & Sendable
    private let wakeup: WakeupPipe
    private let isStopping = Locked(false)
    private let thread = Locked<WorkerThread?>(nil)

    /// Loads the libraries that the source needs, and opens no device yet.
    ///
    /// - `grabs`: takes the events of an input device away from all other programs (EVIOCGRAB). All of its keys then do
    ///   nothing else, so it needs a source that names a device, such as a foot switch.
    ///
    /// Throws what no waiting can change, with the remedy: a key that does not exist, or a library that is not
    /// installed.
    public convenience init(_ source: PTTSource, grabs: Bool = false) throws(PTTDeviceError) {
        try self.init(source, grabs: grabs, SystemPaths())
    }

    init(_ source: PTTSource, grabs: Bool, _ paths: SystemPaths) throws(PTTDeviceError) {
        finder = try source.finder(grabs: grabs, paths)
        do throws(WakeupPipeError) { wakeup = try WakeupPipe() } catch {
            throw PTTDeviceError(.failed, "too many files are open for \(source); close other programs")
        }
        self.source = source
    }

    deinit { stop() }

    /// Starts to look for the devices, and calls `report` on a thread of its own with each event; it must return soon. If
    /// the system cannot create a thread, calls it with `gone` before returning. Call it once.
    public func start(_ report: @escaping @Sendable (PTTEvent) -> Void) {
        do throws(ThreadError) {
            let started = try WorkerThread { [finder, wakeup, isStopping] in
                var run = DeviceRun(finder, wakeup, report)
                run.untilStopped { isStopping.withLock { $0 } }
            }
            thread.withLock { $0 = started }
        } catch {
            let problem = PTTDeviceError(.failed, "the system can start no thread for \(source); close other programs")
            report(PTTEvent(.gone(problem), at: MonotonicClock.now))
        }
    }

    /// Releases a held key, closes the devices and waits until the thread has ended. After that, nothing is reported.
    public func stop() {
        isStopping.withLock { $0 = true }
        wakeup.signal()
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }
}

/// Where the kernel and the libraries are. Tests name folders and libraries of their own.
struct SystemPaths: Sendable {
    /// The folder of `input` and of the files `hidraw…` and `gpiochip…`.
    var devices = "/dev"
    /// The folder of `class/input` and `class/hidraw`.
    var sysfs = "/sys"
    var evdev = "libevdev.so.2"
    var gpiod = "libgpiod.so.2"

    var input: String { "\(devices)/input" }
}

extension PTTSource {
    func finder(grabs: Bool, _ paths: SystemPaths) throws(PTTDeviceError) -> any DeviceFinder & Sendable {
        switch self {
        case .evdev(let key, let device): try EvdevFinder(key: key, device: device, grabs: grabs, paths)
        case .gpio where grabs, .hid where grabs:
            throw .invalid(
                "only an input device can be taken from other programs; leave out --ptt-grab, or name evdev:KEY@NAME")
        case .gpio(let line, let isActiveLow, let bias):
            GPIOFinder(
                try GPIOLibrary(paths.gpiod), GPIOLineSettings(line, isActiveLow: isActiveLow, bias: bias), paths)
        case .hid(let device, let button, let isActiveLow):
            HIDFinder(device: device, button: button, isActiveLow: isActiveLow, paths)
        }
    }
}
