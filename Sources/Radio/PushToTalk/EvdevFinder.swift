internal import TenfourAudioCore

/// Looks for the input devices that have a key.
struct EvdevFinder: DeviceFinder, Sendable {
    private let evdev: Evdev
    private let code: UInt16
    private let keyName: String
    private let selector: DeviceSelector?
    private let grabs: Bool
    private let paths: SystemPaths
    /// Recordings, which are played once.
    private var played: Set<String> = []

    /// The most device files that one search opens.
    static let maximumFileCount = 256

    /// Throws if there is no such key, if libevdev is not installed, or if the devices of all people at this machine
    /// would be grabbed.
    init(key: String, device: DeviceSelector?, grabs: Bool, _ paths: SystemPaths) throws(PTTDeviceError) {
        guard !grabs || device != nil else {
            throw .invalid(
                "--ptt-grab would take your keyboard away from all other programs; name a device that only talks, as in evdev:\(key)@NAME"
            )
        }
        evdev = try Evdev(paths.evdev)
        guard let code = evdev.key(named: key) else {
            throw .invalid("there is no key called \(key); `evtest` shows the names of your keys, such as KEY_F13")
        }
        (self.code, keyName) = (code, evdev.name(ofKey: code))
        (selector, self.grabs, self.paths) = (device, grabs, paths)
    }

    var folder: String { paths.input }

    var findsSeveral: Bool { selector.meansSeveral }

    func isDevice(_ name: String) -> Bool { Self.number(of: name) != nil }

    mutating func find(except open: Set<String>) -> DeviceSearch {
        var search = DeviceSearch()
        search.record(notFound)
        if let path = selector.path {
            if !open.contains(path) { add(path, file: lastComponent(DeviceFolder.target(of: path)), to: &search) }
            return search
        }
        for path in candidates() where !open.contains(path) {
            let file = lastComponent(path)
            // A device whose name does not fit, or that lacks the key, is not even opened.
            if let known = SysfsInput(file, paths.sysfs), !known.hasKey(code) || !selector.fits(known.name) { continue }
            add(path, file: file, to: &search)
        }
        return search
    }

    /// The device files, in the order of their numbers.
    private func candidates() -> [String] {
        DeviceFolder.names(in: folder).compactMap { name in Self.number(of: name).map { ($0, name) } }.sorted {
            $0.0 < $1.0
        }
        .prefix(Self.maximumFileCount).map { "\(folder)/\($0.1)" }
    }

    private static func number(of name: String) -> UInt32? {
        let digits = name.dropFirst(5)
        return name.hasPrefix("event") && digits.first?.isNumber ?? false ? UInt32(digits) : nil
    }

    private mutating func add(_ path: String, file name: String, to search: inout DeviceSearch) {
        if played.contains(path) { return }
        let file: DeviceFile
        do throws(SystemError) { file = try DeviceFile(path) } catch {
            return record(error, path, name, in: &search)
        }
        let known = evdev.describe(file.descriptor, key: code)
        let shown = known?.name ?? SysfsInput(name, paths.sysfs)?.name ?? name
        guard known != nil || file.kind != .device else {
            return search.record(
                PTTDeviceError(
                    .unsuitable, "\(path) is no input device; `tenfour devices --ptt` lists the input devices"))
        }
        guard known?.hasKey ?? true else {
            return search.record(
                PTTDeviceError(
                    .unsuitable, "'\(String(fromPeer: shown))' (\(path)) has no key \(keyName); `evtest` shows its keys"
                ))
        }
        guard selector.fits(shown) else { return }
        let device = EvdevDevice(file, name: shown, path: path, code: code)
        if grabs, !device.grab() {
            return search.record(
                PTTDeviceError(
                    .busy,
                    "another program has taken '\(device.info.name)' (\(path)) for itself; end that program, or leave out --ptt-grab"
                ))
        }
        if file.kind == .recording { played.insert(path) }
        search.devices.append(device)
    }

    private func record(_ error: SystemError, _ path: String, _ name: String, in search: inout DeviceSearch) {
        if error.isRefused {
            search.record(Remedy.inputNotPermitted(path, name: SysfsInput(name, paths.sysfs)?.name))
        } else if !error.isMissing {
            search.record(PTTDeviceError(.failed, "\(path) cannot be opened: \(error.text)"))
        }
    }

    private var notFound: PTTDeviceError {
        let text =
            switch selector {
            case .path(let path): "there is no device \(path); plug it in"
            case .name(let name): "no input device with '\(name)' in its name has the key \(keyName); plug it in"
            case nil: "no input device has the key \(keyName); plug one in, or name another key"
            }
        return PTTDeviceError(.notFound, "\(text) (`tenfour devices --ptt` lists the devices)")
    }
}

/// Returns the part of a path after the last `/`.
func lastComponent(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
