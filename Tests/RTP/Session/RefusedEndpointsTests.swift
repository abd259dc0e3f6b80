import TenfourAudioCore
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourSession

/// A talker whose packets are refused by the machine of the remote, as where no program receives at the port.
struct RefusedEndpointsTests {
    private let bob = Endpoint(.v4(0x0A00_0001), port: 5_006)
    private let elsewhere = Endpoint(.v4(0x0A00_0001), port: 5_004)

    /// Talks for `duration` seconds. An error comes each second from `errors.lowerBound` until before `errors.upperBound`.
    private func told(
        seconds duration: Int, errors: Range<Int>, reports: Range<Int> = 0..<0, each interval: Int = 1,
        from sender: Endpoint? = nil
    ) -> [(at: Double, hearing: Hearing)] {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        var told: [(Double, Hearing)] = []
        for number in 0..<50 * duration {
            let now = seconds(Double(number) / 50)
            talker.send(number, at: now)
            talker.wait(until: now)
            if number % (50 * interval) == 0, errors.contains(number / 50) { talker.datagramRefused(by: bob, at: now) }
            if number % 50 == 25, reports.contains(number / 50) {
                let block = ReportBlock(
                    ssrc: SSRC(9), fractionLost: 0, cumulativeLost: 0, extendedHighestSequenceNumber: UInt32(number),
                    jitter: .zero, lastSenderReport: nil, delaySinceLastSenderReport: .zero)
                _ = talker.receive(report(SSRC(1), sender == nil ? [block] : []), from: sender ?? bob, at: now)
            }
            for case .hearingChanged(let hearing) in talker.takeEvents() { told.append((Double(number) / 50, hearing)) }
        }
        return told
    }

    @Test func aRemoteThatRefusesIsToldWithinTwoSeconds() {
        let told = told(seconds: 20, errors: 1..<20)
        #expect(told.map(\.hearing.state) == [.refused])
        #expect(told.first?.hearing.endpoint == bob && told.first?.hearing.ssrc == nil)
        #expect(told.first?.at ?? 9 <= 2.1)
    }

    /// A program that is just being started refuses once.
    @Test func oneErrorIsNoRefusal() {
        #expect(told(seconds: 20, errors: 3..<4).isEmpty)
    }

    /// Each single one is forgotten.
    @Test func errorsFarApartAreNoRefusal() {
        #expect(told(seconds: 20, errors: 0..<20, each: 5).isEmpty)
    }

    /// Anybody can send ICMP errors in the name of the partner's machine.
    @Test func aPartnerThatReceivesIsNotRefusedByForgedErrors() {
        let told = told(seconds: 30, errors: 8..<30, reports: 0..<30)
        #expect(told.map(\.hearing.state) == [.hears], "\(told)")
    }

    @Test func aPartnerThatStartsHears() {
        let told = told(seconds: 20, errors: 1..<8, reports: 9..<20)
        #expect(told.map(\.hearing.state) == [.refused, .hears])
        #expect(told.last?.at ?? 20 <= 10.1, "\(told)")
    }

    @Test func aPartnerThatIsKilledRefuses() {
        let told = told(seconds: 14, errors: 8..<14, reports: 0..<8)
        #expect(told.map(\.hearing.state) == [.hears, .refused])
        #expect(told.last?.hearing.ssrc == SSRC(1))
        #expect(told.last?.at ?? 20 <= 10.1, "\(told)")
    }

    /// The program at another port of the same machine does not hear what goes to this one.
    @Test func aPartnerAtAnotherPortDoesNotHear() {
        let told = told(seconds: 20, errors: 1..<20, reports: 4..<20, from: elsewhere)
        #expect(told.map(\.hearing.state) == [.refused, .refused])
        #expect(told.map(\.hearing.ssrc) == [nil, SSRC(1)] && told.allSatisfy { $0.hearing.endpoint == bob })
    }
}
