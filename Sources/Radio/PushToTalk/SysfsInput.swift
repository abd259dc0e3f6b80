/// What sysfs tells of an input device. Every user may read it, so it also describes devices that the user may not
/// open.
struct SysfsInput {
    /// The name that the device gives itself.
    let name: String
    private let keys: [UInt64]

    /// Reads the description of the device file with this name (`event5`) from `/sys/class/input`; nil if there is
    /// none.
    init?(_ file: String, _ sysfs: String) {
        let folder = "\(sysfs)/class/input/\(file)/device"
        guard let name = DeviceFile.line(of: "\(folder)/name") else { return nil }
        self.name = name
        keys = Self.words(DeviceFile.line(of: "\(folder)/capabilities/key") ?? "")
    }

    /// Parses a bitmap of sysfs: words of the kernel's `long` in hexadecimal, the highest first. Returns the lowest
    /// word first.
    static func words(_ text: String) -> [UInt64] {
        text.split(separator: " ").suffix(64).reversed().map { UInt64($0, radix: 16) ?? 0 }
    }

    func hasKey(_ code: UInt16) -> Bool {
        let wordSize = MemoryLayout<Int>.size * 8
        let index = Int(code) / wordSize
        return index < keys.count && keys[index] >> UInt64(Int(code) % wordSize) & 1 == 1
    }

    /// The numbers of all keys.
    var codes: [UInt16] { (1...Evdev.lastKey).filter(hasKey) }
}
