internal import TenfourAudioCore

/// The devices of this machine that can be named after `--ptt`, for a person to read.
public enum PTTDeviceList {
    /// Returns a line for each input device with keys, each HID device with a button to talk, and each GPIO line with a
    /// name: the argument of `--ptt`, and what it stands for. A device that this user may not open is listed with the
    /// remedy. Waits for nothing but the file system.
    public static func lines() -> [String] { lines(SystemPaths()) }

    static func lines(_ paths: SystemPaths) -> [String] {
        let input = inputDevices(paths)
        let hid = hidDevices(paths)
        let gpio = gpioLines(paths)
        return input + (input.isEmpty ? ["no input device with keys (evdev)"] : [])
            + hid + (hid.isEmpty ? ["no HID device with a button to talk (hid)"] : [])
            + gpio + (gpio.isEmpty ? ["no GPIO line with a name (gpio)"] : [])
    }

    private static func inputDevices(_ paths: SystemPaths) -> [String] {
        let evdev = try? Evdev(paths.evdev)
        return DeviceFolder.names(in: "\(paths.sysfs)/class/input").filter { $0.hasPrefix("event") }.sorted(
            by: comesBefore
        )
        .flatMap { file -> [String] in
            guard let known = SysfsInput(file, paths.sysfs), case let codes = known.codes, !codes.isEmpty else {
                return []
            }
            let names = codes.prefix(4).map { evdev?.name(ofKey: $0) ?? "\($0)" }
            let more = codes.count > names.count ? " and \(codes.count - names.count) more keys" : ""
            let path = "\(paths.input)/\(file)"
            let line =
                "evdev:KEY@\(path)  '\(String(fromPeer: known.name))': \(names.joined(separator: ", "))\(more)"
            return [line] + remedy(path) { Remedy.inputNotPermitted(path, name: known.name) }
        }
    }

    private static func hidDevices(_ paths: SystemPaths) -> [String] {
        DeviceFolder.names(in: "\(paths.sysfs)/class/hidraw").sorted(by: comesBefore).flatMap { file -> [String] in
            guard let known = SysfsHID(file, paths.sysfs) else { return [] }
            let buttons = known.buttons
            guard let usual = known.contact(for: nil, isNamed: true, isActiveLow: false)?.button ?? buttons.first else {
                return []
            }
            let path = "\(paths.devices)/\(file)"
            let others = buttons.filter { $0 != usual }.map(\.name)
            let line =
                "hid:\(path)  '\(String(fromPeer: known.name))': \(usual.name)"
                + (others.isEmpty ? "" : "; with ,button= also \(others.joined(separator: ", "))")
            return [line]
                + remedy(path) {
                    Remedy.hidNotPermitted(path, name: known.name, vendor: known.vendor, product: known.product)
                }
        }
    }

    private static func gpioLines(_ paths: SystemPaths) -> [String] {
        let chips = DeviceFolder.names(in: paths.devices).filter { $0.hasPrefix("gpiochip") }
        guard !chips.isEmpty else { return [] }
        let library: GPIOLibrary
        do throws(PTTDeviceError) { library = try GPIOLibrary(paths.gpiod) } catch { return ["gpio: \(error)"] }
        do throws(SystemError) {
            return try library.lines().map { line in
                "gpio:\(String(fromPeer: line.name))  line \(line.number) of \(String(fromPeer: line.chip))"
                    + (line.consumer.map { ", in use by '\(String(fromPeer: $0))'" } ?? "")
            }
        } catch {
            return [
                "gpio: \(error.isRefused ? "\(Remedy.gpioNotPermitted("NAME"))" : "the chips cannot be read: \(error.text)")"
            ]
        }
    }

    private static func remedy(_ path: String, _ error: () -> PTTDeviceError) -> [String] {
        DeviceFile.isRefused(path) ? ["    \(error())"] : []
    }

    /// Whether a name comes before another: by its length first, so that event9 comes before event10.
    private static func comesBefore(_ left: String, _ right: String) -> Bool {
        (left.utf8.count, left) < (right.utf8.count, right)
    }
}

extension SysfsHID {
    /// All buttons of the device that can be named, at most 16 numbered ones.
    var buttons: [HIDButton] {
        let named: [HIDButton] = [.hook, .mute, .programmable, .play, .volumeDown, .volumeUp, .recordMute]
        let numbered = (1...16).map { HIDButton.number($0) } + (1...4).map { .pin($0) }
        return (named + numbered).filter { contact(for: $0, isNamed: true, isActiveLow: false) != nil }
    }
}
