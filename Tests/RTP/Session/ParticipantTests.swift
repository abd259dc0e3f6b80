import TenfourAudioCore
import TenfourPackets
import TenfourSession
import Testing

/// Who is there and sends no sound: known by its reports.
struct ParticipantTests {
    private let alice = Endpoint(.v4(0xC000_0201), port: 5_004)
    private let mallory = Endpoint(.v4(0xC633_6401), port: 5_004)

    private func moment(_ seconds: Double) -> Instant { .start + .milliseconds(Int(seconds * 1_000)) }

    private func station(_ remotes: [Endpoint]) -> RTPSession {
        RTPSession(
            identity: Identity(ssrc: SSRC(1), seed: 1), configuration: RTPSessionConfiguration(remotes: remotes),
            at: .start)
    }

    private func report(from ssrc: UInt32, _ name: String?, goodbye: String? = nil) -> [UInt8] {
        let description = SourceDescription(
            ssrc: SSRC(ssrc), canonicalName: "x\(ssrc)", name: name, tool: nil, extensions: [])
        return [UInt8](capacity: 500) {
            ReceiverReport(ssrc: SSRC(ssrc)).write(into: &$0)
            description.write(into: &$0)
            if let goodbye { Goodbye(sources: [SSRC(ssrc)], reason: goodbye).write(into: &$0) }
        }
    }

    private func packet(_ number: UInt16, from ssrc: UInt32) -> [UInt8] {
        [UInt8](capacity: 100) {
            RTPHeader(
                marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: SSRC(ssrc)
            ).write(into: &$0)
            $0.append(31 << 3)
            $0.append(repeating: 0xAA, count: 79)
        }
    }

    private func events(_ station: inout RTPSession) -> [Event] {
        var events: [Event] = []
        while let event = station.nextEvent() { events.append(event) }
        return events
    }

    private func take(_ datagram: [UInt8], _ station: inout RTPSession, from sender: Endpoint, at now: Instant) {
        _ = station.receive(datagram.span, from: sender, at: now)
    }

    private func pass(_ station: inout RTPSession, until end: Instant) {
        while let deadline = station.nextDeadline, deadline <= end { station.timeElapsed(at: deadline) }
        station.timeElapsed(at: end)
    }

    @Test func aPartnerWithAClosedMicrophoneIsThere() {
        var station = station([alice])
        #expect(station.participants(at: moment(1)).isEmpty)
        take(report(from: 9, "Alice"), &station, from: alice, at: moment(2))
        #expect(events(&station) == [.reporterAppeared(SSRC(9), "Alice", from: alice)])
        let there = station.participants(at: moment(3))
        #expect(there.map(\.name) == ["Alice"] && there.map(\.isSending) == [false])
        #expect(there.map(\.since) == [moment(2)] && there.map(\.sendingChanged) == [moment(2)])
    }

    @Test func itsMicrophoneIsOpenWhilePacketsCome() {
        var station = station([alice])
        take(report(from: 9, "Alice"), &station, from: alice, at: moment(2))
        _ = events(&station)
        for number: UInt16 in 0..<50 {
            take(packet(number, from: 9), &station, from: alice, at: moment(4 + Double(number) / 50))
        }
        #expect(events(&station).prefix(2) == [.sourceAppeared(SSRC(9), from: alice), .sourceNamed(SSRC(9), "Alice")])
        let open = station.participants(at: moment(5))
        #expect(open.map(\.isSending) == [true] && open.map(\.sendingChanged) == [moment(4)])
        #expect(open.map(\.since) == [moment(2)])
        // It is closed, and reports go on.
        take(report(from: 9, nil), &station, from: alice, at: moment(7))
        let closed = station.participants(at: moment(7))
        #expect(closed.map(\.isSending) == [false] && closed.map(\.name) == ["Alice"])
        #expect(closed.map(\.sendingChanged) == [moment(4.98)])
    }

    @Test func itLeavesWithAGoodbyeOrInSilence() {
        var station = station([alice])
        take(report(from: 9, "Alice"), &station, from: alice, at: moment(2))
        take(report(from: 8, "Bob"), &station, from: alice, at: moment(2))
        _ = events(&station)
        take(report(from: 9, nil, goodbye: "bye"), &station, from: alice, at: moment(3))
        #expect(events(&station) == [.reporterLeft(SSRC(9), reason: "bye")])
        pass(&station, until: moment(20))
        #expect(station.participants(at: moment(20)).map(\.name) == ["Bob"])
        pass(&station, until: moment(60))
        #expect(events(&station) == [.reporterLeft(SSRC(8), reason: nil)])
        #expect(station.participants(at: moment(60)).isEmpty)
    }

    @Test func aReportThatItsGoodbyeHasOvertakenSaysNothing() {
        var station = station([alice])
        take(packet(0, from: 9), &station, from: alice, at: moment(1))
        take(report(from: 9, nil, goodbye: ""), &station, from: alice, at: moment(2))
        pass(&station, until: moment(2.5))
        take(report(from: 9, "Alice"), &station, from: alice, at: moment(3))
        #expect(events(&station).last == .sourceLeft(SSRC(9), reason: ""))
        #expect(station.participants(at: moment(3)).isEmpty)
        take(report(from: 9, "Alice"), &station, from: alice, at: moment(10))
        #expect(station.participants(at: moment(10)).map(\.name) == ["Alice"])
    }

    @Test func aNameThatComesLaterIsTold() {
        var station = station([alice])
        take(report(from: 9, nil), &station, from: alice, at: moment(2))
        take(report(from: 9, "Alice"), &station, from: alice, at: moment(3))
        #expect(
            events(&station) == [.reporterAppeared(SSRC(9), nil, from: alice), .sourceNamed(SSRC(9), "Alice")])
    }

    @Test func nobodyElseRenamesItOrSendsItAway() {
        var station = station([alice])
        take(report(from: 9, "Alice"), &station, from: alice, at: moment(2))
        _ = events(&station)
        take(report(from: 9, "Eve", goodbye: "gone"), &station, from: mallory, at: moment(3))
        #expect(events(&station).isEmpty)
        #expect(station.participants(at: moment(3)).map(\.name) == ["Alice"])
    }

    @Test func strangersMakeUpAFewAndNotAFlood() {
        var station = station([])
        for number: UInt32 in 100..<10_100 {
            take(report(from: number, "Eve", goodbye: "x"), &station, from: mallory, at: moment(2))
            take(report(from: number, "Eve"), &station, from: mallory, at: moment(2))
        }
        #expect(station.participants(at: moment(2)).count <= 8)
        #expect(events(&station).count <= 16)
    }

    /// They come as slowly as they may, and each stays.
    @Test func strangersDoNotTakeThePlacesOfPartners() {
        var station = station([alice])
        for second in 0..<120 {
            for number in 0...second {
                take(report(from: 100 + UInt32(number), "Eve"), &station, from: mallory, at: moment(Double(second)))
            }
        }
        #expect(station.participants(at: moment(120)).count >= 20)
        for number: UInt32 in 1...8 { take(report(from: 10 + number, "Alice"), &station, from: alice, at: moment(120)) }
        #expect(station.participants(at: moment(120)).count { $0.name == "Alice" } == 8)
    }

    @Test func aRelayIsNobody() {
        let relay = Endpoint(.anyV4, port: 5_004)
        var station = station([relay])
        take(report(from: 9, "relay"), &station, from: relay, at: moment(2))
        #expect(station.participants(at: moment(3)).isEmpty && events(&station).isEmpty)
    }
}
