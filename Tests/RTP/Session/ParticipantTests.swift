import TenfourAudioCore
import TenfourPackets
import TenfourSession
import Testing

/// Who is there and sends no sound: known by its reports.
struct ParticipantTests {
    private let alice = Endpoint(.v4(0xC000_0201), port: 5_004)
    private let mallory = Endpoint(.v4(0xC633_6401), port: 5_004)

    private func moment(_ seconds: Double) -> Instant { .start + .milliseconds(Int(seconds * 1_000)) }

    private func session(_ remotes: [Endpoint]) -> RTPSession {
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

    private func events(_ session: inout RTPSession) -> [Event] {
        var events: [Event] = []
        while let event = session.nextEvent() { events.append(event) }
        return events
    }

    private func take(_ datagram: [UInt8], _ session: inout RTPSession, from sender: Endpoint, at now: Instant) {
        _ = session.receive(datagram.span, from: sender, at: now)
    }

    private func pass(_ session: inout RTPSession, until end: Instant) {
        while let deadline = session.nextDeadline, deadline <= end { session.timeElapsed(at: deadline) }
        session.timeElapsed(at: end)
    }

    @Test func aPartnerWithAClosedMicrophoneIsThere() {
        var session = session([alice])
        #expect(session.participants(at: moment(1)).isEmpty)
        take(report(from: 9, "Alice"), &session, from: alice, at: moment(2))
        #expect(events(&session) == [.reporterAppeared(SSRC(9), "Alice", from: alice)])
        let there = session.participants(at: moment(3))
        #expect(there.map(\.name) == ["Alice"] && there.map(\.isSending) == [false])
        #expect(there.map(\.since) == [moment(2)] && there.map(\.sendingChanged) == [moment(2)])
    }

    @Test func itsMicrophoneIsOpenWhilePacketsCome() {
        var session = session([alice])
        take(report(from: 9, "Alice"), &session, from: alice, at: moment(2))
        _ = events(&session)
        for number: UInt16 in 0..<50 {
            take(packet(number, from: 9), &session, from: alice, at: moment(4 + Double(number) / 50))
        }
        #expect(events(&session).prefix(2) == [.sourceAppeared(SSRC(9), from: alice), .sourceNamed(SSRC(9), "Alice")])
        let open = session.participants(at: moment(5))
        #expect(open.map(\.isSending) == [true] && open.map(\.sendingChanged) == [moment(4)])
        #expect(open.map(\.since) == [moment(2)])
        // It is closed, and reports go on.
        take(report(from: 9, nil), &session, from: alice, at: moment(7))
        let closed = session.participants(at: moment(7))
        #expect(closed.map(\.isSending) == [false] && closed.map(\.name) == ["Alice"])
        #expect(closed.map(\.sendingChanged) == [moment(4.98)])
    }

    @Test func itLeavesWithAGoodbyeOrInSilence() {
        var session = session([alice])
        take(report(from: 9, "Alice"), &session, from: alice, at: moment(2))
        take(report(from: 8, "Bob"), &session, from: alice, at: moment(2))
        _ = events(&session)
        take(report(from: 9, nil, goodbye: "bye"), &session, from: alice, at: moment(3))
        #expect(events(&session) == [.reporterLeft(SSRC(9), reason: "bye")])
        pass(&session, until: moment(20))
        #expect(session.participants(at: moment(20)).map(\.name) == ["Bob"])
        pass(&session, until: moment(60))
        #expect(events(&session) == [.reporterLeft(SSRC(8), reason: nil)])
        #expect(session.participants(at: moment(60)).isEmpty)
    }

    @Test func aReportThatItsGoodbyeHasOvertakenSaysNothing() {
        var session = session([alice])
        take(packet(0, from: 9), &session, from: alice, at: moment(1))
        take(report(from: 9, nil, goodbye: ""), &session, from: alice, at: moment(2))
        pass(&session, until: moment(2.5))
        take(report(from: 9, "Alice"), &session, from: alice, at: moment(3))
        #expect(events(&session).last == .sourceLeft(SSRC(9), reason: ""))
        #expect(session.participants(at: moment(3)).isEmpty)
        take(report(from: 9, "Alice"), &session, from: alice, at: moment(10))
        #expect(session.participants(at: moment(10)).map(\.name) == ["Alice"])
    }

    @Test func aNameThatComesLaterIsReported() {
        var session = session([alice])
        take(report(from: 9, nil), &session, from: alice, at: moment(2))
        take(report(from: 9, "Alice"), &session, from: alice, at: moment(3))
        #expect(
            events(&session) == [.reporterAppeared(SSRC(9), nil, from: alice), .sourceNamed(SSRC(9), "Alice")])
    }

    @Test func nobodyElseRenamesItOrSendsItAway() {
        var session = session([alice])
        take(report(from: 9, "Alice"), &session, from: alice, at: moment(2))
        _ = events(&session)
        take(report(from: 9, "Eve", goodbye: "gone"), &session, from: mallory, at: moment(3))
        #expect(events(&session).isEmpty)
        #expect(session.participants(at: moment(3)).map(\.name) == ["Alice"])
    }

    @Test func strangersMakeUpAFewAndNotAFlood() {
        var session = session([])
        for number: UInt32 in 100..<10_100 {
            take(report(from: number, "Eve", goodbye: "x"), &session, from: mallory, at: moment(2))
            take(report(from: number, "Eve"), &session, from: mallory, at: moment(2))
        }
        #expect(session.participants(at: moment(2)).count <= 8)
        #expect(events(&session).count <= 16)
    }

    /// They come as slowly as they may, and each stays.
    @Test func strangersDoNotTakeThePlacesOfPartners() {
        var session = session([alice])
        for second in 0..<120 {
            for number in 0...second {
                take(report(from: 100 + UInt32(number), "Eve"), &session, from: mallory, at: moment(Double(second)))
            }
        }
        #expect(session.participants(at: moment(120)).count >= 20)
        for number: UInt32 in 1...8 { take(report(from: 10 + number, "Alice"), &session, from: alice, at: moment(120)) }
        #expect(session.participants(at: moment(120)).count { $0.name == "Alice" } == 8)
    }

    @Test func aRelayIsNobody() {
        let relay = Endpoint(.anyV4, port: 5_004)
        var session = session([relay])
        take(report(from: 9, "relay"), &session, from: relay, at: moment(2))
        #expect(session.participants(at: moment(3)).isEmpty && events(&session).isEmpty)
    }
}
