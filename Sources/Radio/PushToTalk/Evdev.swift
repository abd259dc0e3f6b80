internal import CEvdev

/// libevdev's functions, loaded on demand: names of keys, and names and keys of real devices. Events are read by
/// `InputEventParser`.
@safe struct Evdev: @unchecked Sendable {
    // The functions never change, and libevdev has no global state.
    private let library: tenfour_evdev

    /// The number of the last key, KEY_MAX of linux/input-event-codes.h.
    static let lastKey: UInt16 = 0x2FF

    /// Loads libevdev from the library `file`. The C function is `dlopen`.
    init(_ file: String) throws(PTTDeviceError) {
        var failure: UnsafePointer<CChar>?
        let library = unsafe tenfour_evdev_open(file, &failure)
        if let failure = unsafe failure {
            throw PTTDeviceError(
                .noLibrary,
                "reading keys of input devices needs libevdev, which cannot be loaded (\(unsafe String(cString: failure))): run `apt-get install libevdev2`"
            )
        }
        self.library = library
    }

    /// Returns the number of a key by its name, with or without `KEY_` or `BTN_`, or by the number itself; nil if there
    /// is no such key. The C function is `libevdev_event_code_from_name`.
    func key(named name: String) -> UInt16? {
        if let number = UInt16(name) { return (1...Self.lastKey).contains(number) ? number : nil }
        for candidate in [name, "KEY_\(name)", "BTN_\(name)"] {
            let code = unsafe library.libevdev_event_code_from_name(UInt32(EV_KEY), candidate)
            if code > 0, code <= Self.lastKey { return UInt16(code) }
        }
        return nil
    }

    /// Returns the kernel's name of a key, such as `KEY_F13`. The C function is `libevdev_event_code_get_name`.
    func name(ofKey code: UInt16) -> String {
        unsafe library.libevdev_event_code_get_name(UInt32(EV_KEY), UInt32(code)).map { unsafe String(cString: $0) }
            ?? "key \(code)"
    }

    /// Returns the name of an open input device, and whether it has a key; nil if the file is no input device. Not
    /// tried on hardware. The C functions are `libevdev_new_from_fd`, `libevdev_get_name` and
    /// `libevdev_has_event_code`.
    func describe(_ descriptor: Int32, key: UInt16) -> (name: String, hasKey: Bool)? {
        var device: OpaquePointer?
        guard unsafe library.libevdev_new_from_fd(descriptor, &device) == 0, let device = unsafe device else {
            return nil
        }
        defer { unsafe library.libevdev_free(device) }
        let name = unsafe library.libevdev_get_name(device).map { unsafe String(cString: $0) } ?? ""
        return (name, unsafe library.libevdev_has_event_code(device, UInt32(EV_KEY), UInt32(key)) == 1)
    }
}
