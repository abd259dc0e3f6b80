internal import CLinux
import Glibc
internal import TenfourDBus

/// A client of RealtimeKit, the service that gives threads of ordinary users real-time priority on desktops.
///
/// It wants a limit on the processor time that such threads take without sleeping first (`ProcessorTime`). Its interface is
/// `org.freedesktop.RealtimeKit1` on the system bus.
public struct RealtimeKit {
    /// In D-Bus's form; nil for the system bus.
    var busAddress: String?
    /// For all questions together.
    var patience = Duration.seconds(1)
    /// Limits what real-time threads of this process take without sleeping, in microseconds; false where that is refused.
    var limitProcessorTime: (Int64) -> Bool = ProcessorTime.limit

    /// Why it gave no priority.
    public enum Denial: Error, Hashable, BitwiseCopyable, Sendable {
        case noLibrary, noBus, noService, refused, timedOut, wrongAnswer
        /// The kernel did not let us limit our processor time.
        case noLimit
    }

    private static let daemon = BusObject(
        service: "org.freedesktop.RealtimeKit1", path: "/org/freedesktop/RealtimeKit1",
        interface: "org.freedesktop.RealtimeKit1")

    /// Processor time that leaves sound at work alone; a service that allows less would have us killed.
    private static let leastProcessorTime: Int64 = 20_000

    /// The audio threads' own priority. What the service gives at the most stands for it, and lower ones are lower in proportion.
    private static let audioPriority = 50

    /// Asks for real-time priority for the calling thread, `priority` where the service gives as much as that. Returns what was
    /// granted, within `patience`.
    func grant(priority: Int) -> Result<Int, Denial> {
        do throws(BusError) {
            let bus = try MessageBus(address: busAddress, until: .now + patience)
            guard case .int32(let highest) = try bus.property("MaxRealtimePriority", of: Self.daemon),
                case .int64(let processorTime) = try bus.property("RTTimeUSecMax", of: Self.daemon),
                (1...99).contains(highest), processorTime >= Self.leastProcessorTime
            else { return .failure(.wrongAnswer) }
            guard limitProcessorTime(processorTime) else { return .failure(.noLimit) }
            let granted = min(priority, max(1, min(Int(highest), priority * Int(highest) / Self.audioPriority)))
            try bus.call(
                "MakeThreadRealtime", of: Self.daemon, .uint64(UInt64(gettid())), .uint32(UInt32(granted)))
            // In a container that shares the bus, a service would have raised another thread, by a number of its own.
            return isThisThreadRealTime() ? .success(granted) : .failure(.refused)
        } catch {
            return .failure(Denial(error))
        }
    }
}

extension RealtimeKit.Denial {
    init(_ error: BusError) {
        switch error {
        case .noLibrary: self = .noLibrary
        case .noBus, .failed: self = .noBus
        case .noService: self = .noService
        case .refused: self = .refused
        case .timedOut: self = .timedOut
        case .wrongAnswer: self = .wrongAnswer
        }
    }

    /// The first half of the sentence about a denial: what to do.
    var remedy: String {
        switch self {
        case .noLibrary: "install libsystemd0 and rtkit"
        case .noBus, .noService: "install and start rtkit"
        case .refused, .wrongAnswer, .noLimit: "log in at this machine's own screen, which rtkit requires"
        case .timedOut: "restart rtkit-daemon"
        }
    }
}

extension RealtimeKit.Denial: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noLibrary: "libsystemd is not installed"
        case .noBus: "there is no system bus"
        case .noService: "it is not installed"
        case .refused: "it refused"
        case .timedOut: "it did not answer"
        case .wrongAnswer: "its answer was not understood"
        case .noLimit: "the processor time could not be limited"
        }
    }
}
