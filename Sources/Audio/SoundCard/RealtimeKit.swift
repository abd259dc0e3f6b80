internal import CLinux
import Glibc
internal import TenfourDBus

/// A client of RealtimeKit, the service that grants real-time priority to ordinary users on desktops.
///
/// The service requires a limit on the processor time of real-time threads (`ProcessorTime`). Its interface is
/// `org.freedesktop.RealtimeKit1` on the system bus.
public struct RealtimeKit {
    /// The D-Bus address; nil for the system bus.
    var busAddress: String?
    /// The time limit for all calls together.
    var timeout = Duration.seconds(1)
    /// The function that limits the processor time of real-time threads, in microseconds; it returns false if the
    /// kernel refuses.
    var limitProcessorTime: (Int64) -> Bool = ProcessorTime.limit

    /// The reason why the priority was not granted.
    public enum Denial: Error, Hashable, BitwiseCopyable, Sendable {
        case noLibrary, noBus, noService, refused, timedOut, wrongAnswer
        /// The kernel refused the limit on processor time.
        case noLimit
    }

    private static let daemon = BusObject(
        service: "org.freedesktop.RealtimeKit1", path: "/org/freedesktop/RealtimeKit1",
        interface: "org.freedesktop.RealtimeKit1")

    /// The smallest limit, in microseconds, that does not affect normal audio; with a lower limit the kernel would end
    /// the process.
    private static let leastProcessorTime: Int64 = 20_000

    /// The priority of our audio threads. It maps to the service's maximum, and lower priorities map in proportion.
    private static let audioPriority = 50

    /// Requests real-time priority for the calling thread, scaled to the service's maximum. Returns the granted
    /// priority, within `timeout`.
    func grant(priority: Int) -> Result<Int, Denial> {
        do throws(BusError) {
            let bus = try MessageBus(address: busAddress, until: .now + timeout)
            guard case .int32(let highest) = try bus.property("MaxRealtimePriority", of: Self.daemon),
                case .int64(let processorTime) = try bus.property("RTTimeUSecMax", of: Self.daemon),
                (1...99).contains(highest), processorTime >= Self.leastProcessorTime
            else { return .failure(.wrongAnswer) }
            guard limitProcessorTime(processorTime) else { return .failure(.noLimit) }
            let granted = min(priority, max(1, min(Int(highest), priority * Int(highest) / Self.audioPriority)))
            try bus.call(
                "MakeThreadRealtime", of: Self.daemon, .uint64(UInt64(gettid())), .uint32(UInt32(granted)))
            // Checks this thread's own priority: in a container that shares the host's message bus, the service may
            // have raised another thread with the same id.
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

    /// The remedy, as the first half of a sentence; `RealTime.description` adds the second half.
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
