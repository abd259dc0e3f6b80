import TenfourPushToTalk
import TenfourSeededRandom
import Testing

struct HIDReportTests {
    private let hook = HIDUsage(page: 0x0B, id: 0x20)
    private let play = HIDUsage(page: 0x0C, id: 0xCD)

    private func contact(_ descriptor: [UInt8], _ usage: HIDUsage, isActiveLow: Bool = false) throws -> HIDContact {
        let descriptor = try HIDReportDescriptor(parsing: descriptor.span)
        let controls = descriptor.controls(for: usage)
        #expect(!controls.isEmpty)
        return HIDContact(controls, hasReportIDs: descriptor.hasReportIDs, isActiveLow: isActiveLow)
    }

    private func error(_ bytes: [UInt8]) -> HIDDescriptorError? {
        do throws(HIDDescriptorError) { _ = try HIDReportDescriptor(parsing: bytes.span) } catch { return error }
        return nil
    }

    @Test func theFieldsOfAHeadsetHaveTheirPlaces() throws {
        let descriptor = try HIDDescriptors.parse(HIDDescriptors.headset)
        #expect(descriptor.hasReportIDs && descriptor.fields.count == 2)
        #expect(descriptor.byteCount(ofReport: 1) == 5 && descriptor.byteCount(ofReport: 2) == 2)
        #expect(descriptor.byteCount(ofReport: 0) == nil && descriptor.byteCount(ofReport: 3) == nil)
        let telephony = descriptor.fields[1]
        #expect(telephony.reportID == 2 && telephony.isVariable && telephony.bitSize == 1 && telephony.count == 3)
        #expect(telephony.usages == [0xB_0020...0xB_0020, 0xB_002F...0xB_002F, 0xB_0007...0xB_0007])
    }

    @Test func aHookSwitchIsABitOfItsReport() throws {
        var contact = try contact(HIDDescriptors.headset, hook)
        for (report, isPressed) in [
            ([2, 0b110], false), ([2, 0b001], true), ([1, 0, 0, 0, 0], true), ([2], true), ([], true), ([3, 0], true),
            ([2, 0b110], false),
        ] as [([UInt8], Bool)] {
            contact.receive(report.span)
            #expect(contact.isPressed == isPressed, "\(report)")
        }
    }

    @Test func aConsumerKeyIsANumberInAnyPlaceOfItsArray() throws {
        var contact = try contact(HIDDescriptors.headset, play)
        for (report, isPressed) in [
            ([1, 0xCD, 0, 0, 0], true), ([1, 0xE9, 0, 0xCD, 0], true), ([1, 0xCD, 1, 0, 0], false),
            ([1, 0, 0, 0xCD, 0], true), ([1, 0, 0, 0, 0], false),
        ] as [([UInt8], Bool)] {
            contact.receive(report.span)
            #expect(contact.isPressed == isPressed, "\(report)")
        }
    }

    @Test func aButtonWithoutReportIDsIsFound() throws {
        var contact = try contact(HIDDescriptors.mouse, HIDUsage(page: 9, id: 3))
        contact.receive([0b100, 5, 5].span)
        #expect(contact.isPressed)
        contact.receive([0b11011, 4, 4].span)
        #expect(!contact.isPressed)
        let descriptor = try HIDDescriptors.parse(HIDDescriptors.mouse)
        #expect(descriptor.byteCount(ofReport: 0) == 3 && !descriptor.hasReportIDs)
        #expect(descriptor.controls(for: HIDUsage(page: 9, id: 6)).isEmpty && descriptor.controls(for: hook).isEmpty)
    }

    @Test func anInvertedButtonIsReleasedUntilAReportTells() throws {
        var contact = try contact(HIDDescriptors.pedal, HIDUsage(page: 9, id: 1), isActiveLow: true)
        #expect(!contact.isPressed)
        contact.receive([0].span)
        #expect(contact.isPressed)
        contact.receive([1].span)
        #expect(!contact.isPressed)
    }

    @Test func aUsageWithItsOwnPageAndPushedItemsAreUnderstood() throws {
        // Push, another page and size, pop; then a usage of four bytes.
        let bytes: [UInt8] = [
            0x05, 0x09, 0x75, 0x01, 0x95, 0x01, 0xA4, 0x05, 0x0C, 0x75, 0x08, 0xB4,
            0x09, 0x04, 0x81, 0x02, 0x0B, 0x20, 0x00, 0x0B, 0x00, 0x81, 0x02,
        ]
        let descriptor = try HIDReportDescriptor(parsing: bytes.span)
        #expect(descriptor.fields.map(\.usages) == [[0x9_0004...0x9_0004], [0xB_0020...0xB_0020]])
        #expect(descriptor.controls(for: hook).map(\.bitOffset) == [1])
        // A long item is skipped, and of a delimited set the first usage counts.
        let long: [UInt8] = [
            0xFE, 2, 0x10, 7, 7, 0x05, 0x0B, 0x75, 0x01, 0x95, 0x02, 0xA9, 1, 0x09, 0x20, 0x09, 0x21, 0xA9, 0, 0x09,
            0x2F, 0x81, 2,
        ]
        let second = try HIDReportDescriptor(parsing: long.span)
        #expect(second.controls(for: HIDUsage(page: 0x0B, id: 0x2F)).map(\.bitOffset) == [1])
        #expect(second.controls(for: HIDUsage(page: 0x0B, id: 0x21)).isEmpty)
    }

    @Test func aBadDescriptorIsRefused() {
        for end in [1, 3, HIDDescriptors.headset.count - 10] {
            let cut = Array(HIDDescriptors.headset[..<end])
            #expect(error(cut) == nil || error(cut) == .truncated)
        }
        #expect(error([0x05]) == .truncated)
        #expect(error([0xFE, 9]) == .truncated && error([0xFE, 1, 0]) == .truncated)
        #expect(error([0xB4]) == .malformed)
        #expect(error([0x85, 0x00]) == .malformed && error([0x86, 0x00, 0x01]) == .malformed)
        #expect(error([0x77, 0xFF, 0xFF, 0xFF, 0xFF, 0x97, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x02]) == .tooLong)
        let report: [UInt8] = [0x76, 0x00, 0x01, 0x96, 0x00, 0x01, 0x81, 0x02]
        #expect(error(report + report) == nil && error(report + report + report) == .tooLong)
        #expect(error([UInt8](repeating: 0xC0, count: 4_096)) == nil)
        #expect(error([UInt8](repeating: 0xC0, count: 4_097)) == .tooLong)
    }

    @Test func aStreamIsCutIntoReports() throws {
        let descriptor = try HIDDescriptors.parse(HIDDescriptors.headset)
        let stream: [UInt8] = [2, 1, 1, 0xCD, 0, 0, 0, 9, 9, 2, 0, 2]
        for pieces in 1...stream.count {
            var splitter = HIDReportSplitter(descriptor)
            var reports: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: pieces) {
                splitter.split(stream[start..<min(start + pieces, stream.count)].span) { report in
                    reports.append(
                        [UInt8](capacity: report.count) { for index in report.indices { $0.append(report[index]) } })
                }
            }
            // No report has the ID 9.
            #expect(reports == [[2, 1], [1, 0xCD, 0, 0, 0], [2, 0]])
        }
    }

    @Test func randomReportsTrapNothing() throws {
        var randomness = SeededRandom(seed: 5)
        for bytes in [HIDDescriptors.headset, HIDDescriptors.mouse, HIDDescriptors.cm108] {
            let descriptor = try HIDReportDescriptor(parsing: bytes.span)
            for usage in [hook, play, HIDUsage(page: 9, id: 1)] {
                var contact = HIDContact(
                    descriptor.controls(for: usage), hasReportIDs: descriptor.hasReportIDs, isActiveLow: false)
                for _ in 0..<2_000 {
                    let report = (0..<Int(randomness.next() % 7)).map { _ in UInt8(randomness.next() % 4) }
                    contact.receive(report.span)
                }
            }
        }
    }
}
