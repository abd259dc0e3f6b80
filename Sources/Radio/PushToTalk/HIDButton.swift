/// A button of a HID device.
///
/// The numbers are those of the HID Usage Tables 1.4: pages 0x0B (telephony), 0x0C (consumer) and 0x09 (button). The
/// sound chips CM108 and CM119 send their buttons and pins in a layout of their own (`CM108`).
public enum HIDButton: Hashable, Sendable {
    /// The hook switch of a headset or a speaker microphone (0x0B, 0x20).
    case hook
    /// The mute button of a headset (0x0B, 0x2F), otherwise that of its loudspeaker (0x0C, 0xE2).
    case mute
    /// A button without a fixed meaning (0x0B, 0x07).
    case programmable
    /// Play and pause (0x0C, 0xCD), the button on the cable of many headphones.
    case play
    case volumeUp
    case volumeDown
    /// The mute button of the microphone; only of a CM108.
    case recordMute
    /// A numbered button (page 0x09), as of a foot switch or a joystick; 1…64.
    case number(UInt8)
    /// A general-purpose pin of a CM108; 1…8.
    case pin(UInt8)

    /// Creates the button with the name that a person types after `button=`.
    public init?(_ name: String) {
        if let named = Self.named.first(where: { $0.0 == name }) {
            self = named.1
        } else if let number = (1...64 as ClosedRange<UInt8>).first(where: { name == "button\($0)" }) {
            self = .number(number)
        } else if let number = (1...8 as ClosedRange<UInt8>).first(where: { name == "gpio\($0)" }) {
            self = .pin(number)
        } else {
            return nil
        }
    }

    /// The name that a person types after `button=`.
    public var name: String {
        switch self {
        case .number(let number): "button\(number)"
        case .pin(let number): "gpio\(number)"
        default: Self.named.first { $0.1 == self }?.0 ?? ""
        }
    }

    /// All names, for help and errors.
    public static let names = named.map(\.0).joined(separator: ", ") + ", button1 to button64, and gpio1 to gpio8"

    private static let named: [(String, Self)] = [
        ("hook", .hook), ("mute", .mute), ("programmable", .programmable), ("play", .play), ("volume-up", .volumeUp),
        ("volume-down", .volumeDown), ("record-mute", .recordMute),
    ]

    /// The usages of the button, page before number, the best one first; none for what only a CM108 has.
    var usages: [HIDUsage] {
        switch self {
        case .hook: [HIDUsage(page: 0x0B, id: 0x20)]
        case .mute: [HIDUsage(page: 0x0B, id: 0x2F), HIDUsage(page: 0x0C, id: 0xE2)]
        case .programmable: [HIDUsage(page: 0x0B, id: 0x07)]
        case .play: [HIDUsage(page: 0x0C, id: 0xCD)]
        case .volumeUp: [HIDUsage(page: 0x0C, id: 0xE9)]
        case .volumeDown: [HIDUsage(page: 0x0C, id: 0xEA)]
        case .number(let number): [HIDUsage(page: 0x09, id: UInt16(number))]
        case .recordMute, .pin: []
        }
    }

    /// The buttons of a device's descriptor that can be meant where none is named, the likeliest first. A device that a
    /// person has not named is used only for telephony buttons: a mouse has buttons, too.
    static func candidates(isNamed: Bool) -> [Self] {
        let telephony: [Self] = [.hook, .mute, .programmable]
        return isNamed ? telephony + [.play, .number(1), .volumeDown, .volumeUp] : telephony
    }
}

/// A usage of the HID Usage Tables: what a field of a report means.
package struct HIDUsage: Hashable, Sendable {
    package var page: UInt16
    package var id: UInt16

    package init(page: UInt16, id: UInt16) { (self.page, self.id) = (page, id) }

    var rawValue: UInt32 { UInt32(page) << 16 | UInt32(id) }
}

/// The input report of the USB sound chips CM108, CM109, CM119 and HS-100 of C-Media, as their data sheets, Direwolf
/// and AllStarLink describe it: four bytes without a report ID. Not tried on hardware.
///
/// Byte 0 has the buttons: bit 0 volume up, bit 1 volume down, bit 2 playback mute, bit 3 record mute. Byte 1 has the
/// levels of the pins GPIO1 (bit 0) to GPIO4 (bit 3), up to GPIO8 on a CM119. Foot switches and radio interfaces mostly
/// use volume down, which is therefore the button where none is named; the chip sends the mute buttons only as short
/// pulses. A switch from a pin to ground may need `,active-low`.
package enum CM108 {
    package static let vendor: UInt16 = 0x0D8C
    package static let usualButton = HIDButton.volumeDown

    /// Whether a device is one of these chips, by its USB numbers.
    package static func isChip(vendor: UInt16, product: UInt16) -> Bool {
        guard vendor == Self.vendor else { return false }
        switch product {
        case 0x0008...0x000F, 0x0012, 0x0013, 0x0139, 0x013A, 0x013C: return true
        default: return false
        }
    }

    /// The place of a button in the input report; nil for a button that the chip does not have.
    static func control(for button: HIDButton) -> HIDControl? {
        let bit: Int? =
            switch button {
            case .volumeUp: 0
            case .volumeDown: 1
            case .mute: 2
            case .recordMute: 3
            case .pin(let number): 7 + Int(number)
            default: nil
            }
        return bit.map { HIDControl(reportID: 0, bitOffset: $0, bitSize: 1, slotCount: 1, value: nil) }
    }
}
