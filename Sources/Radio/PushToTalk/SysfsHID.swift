/// What sysfs tells of a HID device. Every user may read it, so it also describes devices that the user may not open.
struct SysfsHID {
    /// The name that the device gives itself.
    let name: String
    let vendor: UInt16
    let product: UInt16
    /// Nil if the device's descriptor cannot be parsed.
    let descriptor: HIDReportDescriptor?

    /// Reads the description of the device file with this name (`hidraw3`) from `/sys/class/hidraw`; nil if there is
    /// none.
    init?(_ file: String, _ sysfs: String) {
        let folder = "\(sysfs)/class/hidraw/\(file)/device"
        guard let text = DeviceFile.line(of: "\(folder)/uevent") else { return nil }
        self.init(
            uevent: text,
            DeviceFile.contents(of: "\(folder)/report_descriptor", limit: HIDReportDescriptor.maximumByteCount) ?? [])
    }

    /// Parses the lines `HID_ID=0003:00000D8C:0000000C` (bus, vendor, product) and `HID_NAME=` of a file `uevent`.
    init(uevent: String, _ descriptor: [UInt8]) {
        var (name, numbers) = ("", [Substring]())
        for line in uevent.split(separator: "\n") {
            if line.hasPrefix("HID_NAME=") { name = String(line.dropFirst(9)) }
            if line.hasPrefix("HID_ID=") { numbers = line.dropFirst(7).split(separator: ":") }
        }
        self.name = name
        vendor = numbers.count == 3 ? UInt32(numbers[1], radix: 16).map { UInt16(truncatingIfNeeded: $0) } ?? 0 : 0
        product = numbers.count == 3 ? UInt32(numbers[2], radix: 16).map { UInt16(truncatingIfNeeded: $0) } ?? 0 : 0
        self.descriptor = try? HIDReportDescriptor(parsing: descriptor.span)
    }

    var isCM108: Bool { CM108.isChip(vendor: vendor, product: product) }

    /// Chooses the button, and finds its place in the reports. Without `button` it is the device's likeliest one, and
    /// nil if the device was not named and has neither a telephony button nor the chip of a radio interface.
    func contact(
        for button: HIDButton?, isNamed: Bool, isActiveLow: Bool
    ) -> (button: HIDButton, contact: HIDContact)? {
        let chosen = isCM108 ? button ?? CM108.usualButton : nil
        if let chosen, let control = CM108.control(for: chosen) {
            return (chosen, HIDContact([control], hasReportIDs: false, isActiveLow: isActiveLow))
        }
        for candidate in button.map({ [$0] }) ?? HIDButton.candidates(isNamed: isNamed) {
            for usage in candidate.usages {
                guard let descriptor, case let controls = descriptor.controls(for: usage), !controls.isEmpty else {
                    continue
                }
                return (
                    candidate, HIDContact(controls, hasReportIDs: descriptor.hasReportIDs, isActiveLow: isActiveLow)
                )
            }
        }
        return nil
    }
}
