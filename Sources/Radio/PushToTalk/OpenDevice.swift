internal import TenfourAudioCore

/// A device that is open: its bytes go in, the changes of its contact come out. For the thread of its source.
protocol OpenDevice: AnyObject {
    /// The descriptor to wait for.
    var descriptor: Int32 { get }
    var info: PTTDeviceInfo { get }
    /// The time at which `timeElapsed` is to be called; nil if nothing is to be waited for.
    var deadline: Instant? { get }

    /// Reads once, and passes each change and its time to `changed`.
    func read(at now: Instant, _ changed: (Bool, Instant) -> Void) -> DeviceFile.Result
    func timeElapsed(at now: Instant, _ changed: (Bool, Instant) -> Void)
}

extension OpenDevice {
    var deadline: Instant? { nil }
    func timeElapsed(at now: Instant, _ changed: (Bool, Instant) -> Void) {}
}

/// Looks for the devices of a source.
protocol DeviceFinder {
    /// The folder in which the devices appear.
    var folder: String { get }
    /// Whether more devices are looked for while one is open.
    var findsSeveral: Bool { get }

    /// Whether a name in the folder can be that of a device.
    func isDevice(_ name: String) -> Bool
    /// Opens the devices of the source, except for those at the paths `open`.
    mutating func find(except open: Set<String>) -> DeviceSearch
}

/// The devices that a search has found, and the reason why another one cannot be used.
struct DeviceSearch {
    var devices: [any OpenDevice] = []
    /// The problem that tells a person most: a device that may not be read rather than one that is not there.
    private(set) var problem: PTTDeviceError?

    /// Records a problem, unless a graver one is known.
    mutating func record(_ problem: PTTDeviceError) {
        if problem.kind.rank > self.problem?.kind.rank ?? -1 { self.problem = problem }
    }
}

extension PTTDeviceError.Kind {
    fileprivate var rank: Int {
        switch self {
        case .notFound: 0
        case .unsuitable: 1
        case .failed: 2
        case .notPermitted: 3
        case .busy: 4
        case .noLibrary, .invalid: 5
        }
    }
}
