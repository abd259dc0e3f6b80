/// The device, and the key, line or button of it, that a person holds to talk.
public enum PTTSource: Hashable, Sendable {
    /// A key of an input device (evdev), or of every input device that has it. `key` is the kernel's name of the key,
    /// such as `KEY_F13`, or its number.
    case evdev(key: String, device: DeviceSelector?)
    /// A GPIO line, by its name. `bias` nil leaves the resistor of the line as it is.
    case gpio(line: String, isActiveLow: Bool, bias: GPIOBias?)
    /// A button of a HID device (hidraw). Without a device, headsets with telephony buttons and CM108 sound chips are
    /// used, and without a button the device's likeliest one (`HIDButton`).
    case hid(device: DeviceSelector?, button: HIDButton?, isActiveLow: Bool)

    /// The longest argument, in bytes.
    package static let maximumByteCount = 512
}

/// The way in which a person names a device.
public enum DeviceSelector: Hashable, Sendable {
    /// A path that begins with `/`, such as `/dev/input/by-id/usb-pedal-event-kbd`.
    case path(String)
    /// A part of the name that the device gives itself. Upper and lower case are the same.
    case name(String)

    init(_ text: Substring) { self = text.hasPrefix("/") ? .path(String(text)) : .name(String(text)) }

    /// The path or the part of a name, as it is typed.
    public var text: String {
        switch self {
        case .path(let text), .name(let text): text
        }
    }
}

extension DeviceSelector? {
    /// Whether several devices can be meant: all but a path does.
    var meansSeveral: Bool { path == nil }

    var path: String? {
        if case .path(let path) = self { path } else { nil }
    }

    /// Whether a device with this name is meant.
    func fits(_ name: String) -> Bool {
        guard case .name(let part) = self else { return true }
        return name.lowercased().contains(part.lowercased())
    }
}

/// The resistor that holds a GPIO line at a level while its switch is open.
public enum GPIOBias: String, Hashable, Sendable, CaseIterable {
    case pullUp = "pull-up"
    case pullDown = "pull-down"
    case disabled = "no-bias"
}

extension PTTSource {
    /// Parses the argument of `--ptt`:
    ///
    /// - `evdev:KEY`, `evdev:KEY@NAME-OR-PATH`
    /// - `gpio:NAME`, followed by any of `,active-low`, and one of `,pull-up`, `,pull-down` and `,no-bias`
    /// - `hid`, `hid:NAME-OR-PATH`, followed by any of `,button=BUTTON` and `,active-low`
    ///
    /// Throws a sentence with the remedy. Whether the key or the device exists is seen later, by `PTTDevices`.
    public init(parsing text: String) throws(PTTDeviceError) {
        guard text.utf8.count <= Self.maximumByteCount else {
            throw .invalid("the name of the device is longer than \(Self.maximumByteCount) bytes; write a part of it")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .invalid("the name of the device has control characters; write a part of it without them")
        }
        let kind = text.prefix { $0 != ":" && $0 != "," }
        let rest = text[kind.endIndex...]
        let value = rest.hasPrefix(":") ? rest.dropFirst() : rest
        switch kind {
        case "evdev": self = try Self.evdev(value)
        case "gpio": self = try Self.gpio(value)
        case "hid": self = try Self.hid(value, isNamed: rest.hasPrefix(":"))
        default:
            throw .invalid(
                "'\(kind)' is no kind of device; write evdev:KEY_F13, gpio:NAME or hid (`tenfour devices --ptt` lists them)"
            )
        }
    }

    /// Parses the argument of `--ptt`; nil where `init(parsing:)` throws.
    public init?(argument: String) {
        do throws(PTTDeviceError) { self = try Self(parsing: argument) } catch { return nil }
    }

    private static func evdev(_ text: Substring) throws(PTTDeviceError) -> Self {
        let key = text.prefix { $0 != "@" }
        guard !key.isEmpty, key.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }) else {
            throw .invalid(
                "evdev needs the name of a key, such as evdev:KEY_F13; `evtest` shows the names of your keys")
        }
        let place = text[key.endIndex...].dropFirst()
        guard key.endIndex == text.endIndex || !place.isEmpty else {
            throw .invalid("there is no device after '@'; write evdev:\(key)@NAME, or evdev:\(key) for every device")
        }
        return .evdev(key: key.uppercased(), device: place.isEmpty ? nil : DeviceSelector(place))
    }

    private static func gpio(_ text: Substring) throws(PTTDeviceError) -> Self {
        var (line, options) = splitOptions(text)
        guard !line.isEmpty else {
            throw .invalid("gpio needs the name of a line, such as gpio:PTT; `gpioinfo` lists the names")
        }
        var bias: GPIOBias?
        let isActiveLow = remove("active-low", from: &options)
        for option in options {
            guard let named = GPIOBias(rawValue: String(option)), bias == nil else {
                throw .invalid(
                    "',\(option)' cannot be used here; a line has ,active-low and one of ,pull-up, ,pull-down and ,no-bias"
                )
            }
            bias = named
        }
        return .gpio(line: String(line), isActiveLow: isActiveLow, bias: bias)
    }

    private static func hid(_ text: Substring, isNamed: Bool) throws(PTTDeviceError) -> Self {
        var (place, options) = splitOptions(text)
        guard place.isEmpty != isNamed else {
            throw .invalid("hid needs a name or a path after ':', as in hid:Jabra; write hid for every headset")
        }
        var button: HIDButton?
        let isActiveLow = remove("active-low", from: &options)
        for option in options {
            guard option.hasPrefix("button="), button == nil else {
                throw .invalid("',\(option)' cannot be used here; a HID device has ,button=BUTTON and ,active-low")
            }
            guard let named = HIDButton(String(option.dropFirst(7))) else {
                throw .invalid("'\(option.dropFirst(7))' is no button; the buttons are \(HIDButton.names)")
            }
            button = named
        }
        return .hid(device: place.isEmpty ? nil : DeviceSelector(place), button: button, isActiveLow: isActiveLow)
    }

    /// Splits what looks like options off the end: names of devices may contain commas, too.
    private static func splitOptions(_ text: Substring) -> (name: Substring, options: [Substring]) {
        var (name, options) = (text, [Substring]())
        while let comma = name.lastIndex(of: ",") {
            let option = name[name.index(after: comma)...]
            guard !option.isEmpty, option.utf8.allSatisfy({ $0.isLowerCaseOrDigit || "-=".utf8.contains($0) }) else {
                break
            }
            options.insert(option, at: 0)
            name = name[..<comma]
        }
        return (name, options)
    }

    private static func remove(_ option: Substring, from options: inout [Substring]) -> Bool {
        guard let index = options.firstIndex(of: option) else { return false }
        options.remove(at: index)
        return true
    }
}

extension PTTSource: CustomStringConvertible {
    /// The argument from which `init(parsing:)` makes the same source.
    public var description: String {
        switch self {
        case .evdev(let key, let device): "evdev:\(key)\(device.map { "@\($0.text)" } ?? "")"
        case .gpio(let line, let isActiveLow, let bias):
            "gpio:\(line)\(isActiveLow ? ",active-low" : "")\(bias.map { ",\($0.rawValue)" } ?? "")"
        case .hid(let device, let button, let isActiveLow):
            "hid\(device.map { ":\($0.text)" } ?? "")\(button.map { ",button=\($0.name)" } ?? "")"
                + (isActiveLow ? ",active-low" : "")
        }
    }
}

extension UInt8 {
    fileprivate var isLowerCaseOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }

    fileprivate var isLetterOrDigit: Bool { isLowerCaseOrDigit || (self | 0x20).isLowerCaseOrDigit && self >= 0x41 }
}
