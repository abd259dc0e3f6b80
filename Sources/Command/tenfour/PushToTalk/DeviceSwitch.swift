import TenfourPushToTalk
import TenfourSystem

/// A device of `--ptt` as a switch of the microphone.
final class DeviceSwitch: TransmitSwitch {
    let name: String
    private let devices: PTTDevices
    private let waiting = Locked<[String]>([])

    /// The number of notices that are kept until they are taken. A device with a bad contact makes many.
    private static let maximumCount = 8

    init(_ source: PTTSource, grabs: Bool) throws(PTTDeviceError) {
        devices = try PTTDevices(source, grabs: grabs)
        name = "\(source)"
    }

    func start(_ report: @escaping @Sendable (TransmitSwitchEvent) -> Void) {
        devices.start { [name, waiting] event in
            switch event.change {
            case .pressed: report(TransmitSwitchEvent(.pressed, at: event.time))
            case .released: report(TransmitSwitchEvent(.released, at: event.time))
            case .gone(let error):
                report(TransmitSwitchEvent(.gone, at: event.time))
                Self.add("\(name): \(error)", to: waiting)
            case .back(let infos):
                report(TransmitSwitchEvent(.back, at: event.time))
                for info in infos { Self.add(Self.notice(name, info), to: waiting) }
            case .changed: break
            }
        }
    }

    func stop() { devices.stop() }

    /// Returns the notices since the last call.
    func takeNotices() -> [String] {
        waiting.withLock { notices in
            defer { notices = [] }
            return notices
        }
    }

    private static func add(_ notice: String, to waiting: Locked<[String]>) {
        waiting.withLock { if $0.count < maximumCount { $0.append(notice) } }
    }

    private static func notice(_ name: String, _ info: PTTDeviceInfo) -> String {
        "\(name): hold it to talk, on '\(info.name)'"
            + (info.isHeld ? "; it is held now: let go of it first" : "")
    }
}
