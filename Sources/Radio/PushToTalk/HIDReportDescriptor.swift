/// The reason why a HID report descriptor cannot be used.
package enum HIDDescriptorError: Error, Hashable, Sendable {
    /// The descriptor ends within an item.
    case truncated
    /// A descriptor of more than 4096 bytes, or a report of more than 16 384.
    case tooLong
    /// A report ID of zero or above 255, or a pop without a push.
    case malformed
}

/// The fields of a device's input reports, from its HID report descriptor (Device Class Definition for HID 1.11,
/// section 6.2.2). Any bytes are accepted; output and feature reports are ignored.
package struct HIDReportDescriptor: Hashable, Sendable {
    /// Neighbouring values of the same size in a report.
    package struct Field: Hashable, Sendable {
        /// Zero if the device's reports have no ID.
        package var reportID: UInt8
        /// The place after the report ID.
        package var bitOffset: Int
        /// The size of one value: 1…32.
        package var bitSize: Int
        package var count: Int
        /// Whether each value belongs to one usage. Otherwise each value is the number of a usage that is active (an
        /// array).
        package var isVariable: Bool
        package var logicalMinimum: Int32
        /// Page and number as one, in the order of the values. The last usage is that of all further values.
        package var usages: [ClosedRange<UInt32>]
    }

    package private(set) var fields: [Field] = []
    /// Whether the first byte of each report is its ID.
    package private(set) var hasReportIDs = false
    private var bitCounts: [UInt8: Int] = [:]

    package static let maximumByteCount = 4_096
    static let maximumReportBitCount = 16_384 * 8

    package init(parsing bytes: Span<UInt8>) throws(HIDDescriptorError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var state = State()
        var place = 0
        while place < bytes.count {
            let prefix = bytes[place]
            if prefix == 0xFE {
                // A long item, which no document defines: its second byte is the length of its data.
                guard place + 2 < bytes.count else { throw .truncated }
                place += 3 + Int(bytes[place + 1])
                guard place <= bytes.count else { throw .truncated }
                continue
            }
            let size = prefix & 3 == 3 ? 4 : Int(prefix & 3)
            guard place + size < bytes.count else { throw .truncated }
            var value: UInt32 = 0
            for index in 0..<size { value |= UInt32(bytes[place + 1 + index]) << UInt32(8 * index) }
            place += 1 + size
            try add(Item(tag: prefix & 0xFC, value: value, byteCount: size), &state)
        }
    }

    /// The length of an input report with its ID, in bytes; nil if the device has no such report.
    package func byteCount(ofReport id: UInt8) -> Int? {
        bitCounts[id].map { ($0 + 7) / 8 + (hasReportIDs ? 1 : 0) }
    }

    /// Returns where the reports tell whether a usage is active.
    package func controls(for usage: HIDUsage) -> [HIDControl] {
        fields.compactMap { field in
            guard let index = field.index(of: usage.rawValue) else { return nil }
            if field.isVariable {
                guard index < field.count else { return nil }
                return HIDControl(
                    reportID: field.reportID, bitOffset: field.bitOffset + index * field.bitSize,
                    bitSize: field.bitSize,
                    slotCount: 1, value: nil)
            }
            let value = UInt32(truncatingIfNeeded: Int64(field.logicalMinimum) + Int64(index))
            return HIDControl(
                reportID: field.reportID, bitOffset: field.bitOffset, bitSize: field.bitSize, slotCount: field.count,
                value: value & HIDControl.mask(field.bitSize))
        }
    }

    fileprivate struct Item {
        /// Tag and type, as in the prefix.
        var tag: UInt8
        var value: UInt32
        var byteCount: Int

        var signed: Int32 {
            switch byteCount {
            case 1: Int32(Int8(truncatingIfNeeded: value))
            case 2: Int32(Int16(truncatingIfNeeded: value))
            default: Int32(truncatingIfNeeded: value)
            }
        }
    }

    /// What holds until it is set again.
    fileprivate struct Globals {
        var usagePage: UInt32 = 0
        var logicalMinimum: Int32 = 0
        var bitSize = 0
        var count = 0
        var reportID: UInt8 = 0
    }

    fileprivate struct State {
        var globals = Globals()
        var stack: [Globals] = []
        /// Usages for the next main item. One of up to two bytes has no page yet.
        var usages: [(range: ClosedRange<UInt32>, hasPage: Bool)] = []
        var usageMinimum: UInt32?
        /// Whether a delimited set of usages is open, and has its first usage. The others are alternatives.
        var isInSet = false
        var setHasUsage = false
    }

    private mutating func add(_ item: Item, _ state: inout State) throws(HIDDescriptorError) {
        switch item.tag {
        case 0x80: try addInput(item.value, &state)
        case 0x90, 0xB0, 0xA0, 0xC0: break  // output, feature, collection, end of collection
        case 0x04: state.globals.usagePage = item.value & 0xFFFF
        case 0x14: state.globals.logicalMinimum = item.signed
        case 0x74: state.globals.bitSize = Int(clamping: item.value)
        case 0x94: state.globals.count = Int(clamping: item.value)
        case 0x84:
            guard (1...255).contains(item.value) else { throw .malformed }
            state.globals.reportID = UInt8(item.value)
            hasReportIDs = true
        case 0xA4: state.stack.append(state.globals)
        case 0xB4:
            guard let globals = state.stack.popLast() else { throw .malformed }
            state.globals = globals
        case 0x08: state.add(item.value...item.value, hasPage: item.byteCount == 4)
        case 0x18: state.usageMinimum = item.value
        case 0x28:
            let page = item.byteCount == 4 ? item.value & 0xFFFF_0000 : 0
            if let minimum = state.usageMinimum.map({ $0 | page }), minimum <= item.value {
                state.add(minimum...item.value, hasPage: item.byteCount == 4)
            }
            state.usageMinimum = nil
        case 0xA8: (state.isInSet, state.setHasUsage) = (item.value == 1, false)
        default: break
        }
        // A main item, whose type is zero, uses up the local items before it.
        if item.tag & 0x0C == 0 { state.removeLocals() }
    }

    private mutating func addInput(_ flags: UInt32, _ state: inout State) throws(HIDDescriptorError) {
        let globals = state.globals
        let (bitCount, overflows) = globals.bitSize.multipliedReportingOverflow(by: globals.count)
        let start = bitCounts[globals.reportID] ?? 0
        guard !overflows, bitCount <= Self.maximumReportBitCount - start else { throw .tooLong }
        bitCounts[globals.reportID] = start + bitCount
        // The first bit marks a constant, such as padding.
        guard flags & 1 == 0, globals.count > 0, (1...32).contains(globals.bitSize), !state.usages.isEmpty else {
            return
        }
        let usages = state.usages.map { usage -> ClosedRange<UInt32> in
            // Without a page, the bounds have at most 16 bits.
            let page = usage.hasPage ? 0 : globals.usagePage << 16
            return page | usage.range.lowerBound...page | usage.range.upperBound
        }
        fields.append(
            Field(
                reportID: globals.reportID, bitOffset: start, bitSize: globals.bitSize, count: globals.count,
                isVariable: flags & 2 != 0, logicalMinimum: globals.logicalMinimum, usages: usages))
    }
}

extension HIDReportDescriptor.State {
    fileprivate mutating func add(_ range: ClosedRange<UInt32>, hasPage: Bool) {
        if isInSet && setHasUsage { return }
        setHasUsage = true
        usages.append((range, hasPage))
    }

    fileprivate mutating func removeLocals() {
        usages.removeAll()
        (usageMinimum, isInSet, setHasUsage) = (nil, false, false)
    }
}

extension HIDReportDescriptor.Field {
    /// Returns the position of a usage among the field's usages.
    fileprivate func index(of usage: UInt32) -> Int? {
        var before: Int64 = 0
        for range in usages {
            if range.contains(usage) { return Int(clamping: before + Int64(usage - range.lowerBound)) }
            before += Int64(range.upperBound - range.lowerBound) + 1
        }
        return nil
    }
}
