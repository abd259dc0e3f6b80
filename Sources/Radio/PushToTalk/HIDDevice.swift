internal import TenfourAudioCore

/// An open hidraw device, and the state of one of its buttons. Not tried on hardware.
///
/// Its reports have no time, so a change has the time at which it was read. A button that is already down when the
/// device is opened is seen with the next report.
final class HIDDevice: OpenDevice {
    private let file: DeviceFile
    private var contact: HIDContact
    private var splitter: HIDReportSplitter
    private var wasPressed = false
    let info: PTTDeviceInfo

    var descriptor: Int32 { file.descriptor }

    init(_ file: DeviceFile, _ contact: HIDContact, _ splitter: HIDReportSplitter, _ info: PTTDeviceInfo) {
        (self.file, self.contact, self.splitter, self.info) = (file, contact, splitter, info)
    }

    func read(at now: Instant, _ changed: (Bool, Instant) -> Void) -> DeviceFile.Result {
        file.read { bytes in
            if file.kind == .device { return receive(bytes, at: now, changed) }
            splitter.split(bytes) { receive($0, at: now, changed) }
        }
    }

    private func receive(_ report: Span<UInt8>, at now: Instant, _ changed: (Bool, Instant) -> Void) {
        contact.receive(report)
        guard contact.isPressed != wasPressed else { return }
        wasPressed = contact.isPressed
        changed(wasPressed, now)
    }
}

/// Looks for HID devices with a button to talk.
struct HIDFinder: DeviceFinder, Sendable {
    private let selector: DeviceSelector?
    private let button: HIDButton?
    private let isActiveLow: Bool
    private let paths: SystemPaths
    /// Recordings, which are played once.
    private var played: Set<String> = []

    init(device: DeviceSelector?, button: HIDButton?, isActiveLow: Bool, _ paths: SystemPaths) {
        (selector, self.button, self.isActiveLow, self.paths) = (device, button, isActiveLow, paths)
    }

    var folder: String { paths.devices }

    var findsSeveral: Bool { selector.meansSeveral }

    func isDevice(_ name: String) -> Bool { name.hasPrefix("hidraw") }

    mutating func find(except open: Set<String>) -> DeviceSearch {
        var search = DeviceSearch()
        search.record(notFound)
        if let path = selector.path {
            if !open.contains(path) { add(path, file: lastComponent(DeviceFolder.target(of: path)), to: &search) }
            return search
        }
        let files = DeviceFolder.names(in: "\(paths.sysfs)/class/hidraw").filter(isDevice).sorted()
        for file in files.prefix(EvdevFinder.maximumFileCount) {
            let path = "\(paths.devices)/\(file)"
            if !open.contains(path) { add(path, file: file, to: &search) }
        }
        return search
    }

    private mutating func add(_ path: String, file name: String, to search: inout DeviceSearch) {
        guard let known = SysfsHID(name, paths.sysfs) else {
            if DeviceFile.exists(path) {
                search.record(
                    PTTDeviceError(.unsuitable, "\(path) is no HID device; `tenfour devices --ptt` lists them"))
            }
            return
        }
        guard selector.fits(known.name) else { return }
        guard let (_, contact) = known.contact(for: button, isNamed: selector != nil, isActiveLow: isActiveLow) else {
            if selector != nil { search.record(hasNoButton(known, path)) }
            return
        }
        if played.contains(path) { return }
        do throws(SystemError) {
            let file = try DeviceFile(path)
            if file.kind == .recording { played.insert(path) }
            search.devices.append(
                HIDDevice(
                    file, contact, HIDReportSplitter(known.isCM108 ? nil : known.descriptor),
                    PTTDeviceInfo(name: known.name, path: path)))
        } catch {
            if error.isRefused {
                search.record(
                    Remedy.hidNotPermitted(path, name: known.name, vendor: known.vendor, product: known.product))
            } else if !error.isMissing {
                search.record(PTTDeviceError(.failed, "\(path) cannot be opened: \(error.text)"))
            }
        }
    }

    private func hasNoButton(_ known: SysfsHID, _ path: String) -> PTTDeviceError {
        let shown = "'\(String(fromPeer: known.name))' (\(path))"
        let button = button.map { "no button \($0.name)" } ?? "no button that can be used to talk"
        return PTTDeviceError(
            .unsuitable, "\(shown) has \(button); `tenfour devices --ptt` lists the buttons of the devices")
    }

    private var notFound: PTTDeviceError {
        let text =
            switch selector {
            case .path(let path): "there is no device \(path); plug it in"
            case .name(let name): "no HID device has '\(name)' in its name; plug it in"
            case nil:
                "no headset with a telephony button and no CM108 is there; plug one in, or name another HID device"
            }
        return PTTDeviceError(.notFound, "\(text) (`tenfour devices --ptt` lists the devices)")
    }
}
