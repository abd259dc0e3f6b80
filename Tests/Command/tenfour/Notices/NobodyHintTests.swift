import Glibc
import TenfourAudioCore
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourRadio
@testable import TenfourUV
@testable import tenfour

/// The one line for a person to whom nothing has come for ten seconds.
struct NobodyHintTests {
    private let lan = Endpoint(.v4(0x0A00_0007), port: 5004)
    private let internet = Endpoint(.v4(0xCB00_7107), port: 5004)
    private let ula = Endpoint(.v6(high: 0xFD00_0000_0000_0001, low: 7, scope: 0), port: 5004)

    private func configuration(_ partner: Endpoint?) -> RadioConfiguration {
        var rtpSession = RTPSessionConfiguration()
        rtpSession.remotes = partner.map { [$0] } ?? []
        var configuration = RadioConfiguration(local: Endpoint(.anyV4, port: 5004), rtpSession: rtpSession)
        configuration.output = .clock
        return configuration
    }

    private func snapshot(
        after time: Duration = .seconds(10), change: (inout RadioSnapshot) -> Void = { _ in }
    ) -> RadioSnapshot {
        let session = RTPSession(
            identity: Identity(ssrc: SSRC(1)), configuration: RTPSessionConfiguration(), at: .start)
        var snapshot = RadioSnapshot(rtpSession: session, elapsed: time)
        change(&snapshot)
        return snapshot
    }

    private func line(
        _ partner: Endpoint?, after time: Duration = .seconds(10), change: (inout RadioSnapshot) -> Void = { _ in }
    ) -> String? {
        var hint = NobodyHint(configuration(partner))
        return hint?.line(snapshot(after: time, change: change), port: 5004)
    }

    @Test func theLikeliestCauseIsNamed() {
        #expect(
            line(lan)
                == "nothing has arrived from 10.0.0.7:5004 for 10 s: probably a firewall there drops UDP port 5004, "
                + "or that machine is off; `tenfour doctor 10.0.0.7:5004` examines the way")
        #expect(line(ula)?.contains("probably a firewall there") == true)
        #expect(
            line(internet)
                == "nothing has arrived from 203.0.113.7:5004 for 10 s: probably a router (NAT) or a firewall "
                + "there lets nothing in; a channel with a relay needs no open port: "
                + "`tenfour channel new NAME --relay HOST`")
        #expect(
            line(nil)
                == "nothing has arrived at port 5004 for 10 s: probably nobody sends yet, or sends to another address or "
                + "port, or a firewall here drops it; `tenfour doctor -p 5004` examines this machine")
        var group = configuration(nil)
        group.multicast = .init(group: .v4(0xEF00_010A))
        var hint = NobodyHint(group)
        #expect(hint?.line(snapshot(), port: 5004)?.hasPrefix("nothing has arrived for 239.0.1.10 for 10 s: ") == true)
    }

    @Test func refusedPacketsHaveAnotherCause() {
        func refused(_ code: Int32) -> String? {
            line(lan) { $0.network.lastFailure = .init(destination: lan, code: code) }
        }
        #expect(
            refused(ECONNREFUSED)
                == "10.0.0.7:5004 refuses your packets: no program receives there; start tenfour there, "
                + "or name the port that it uses, as HOST:PORT")
        #expect(refused(EPERM)?.contains("a firewall here forbids sending to 10.0.0.7:5004") == true)
        #expect(refused(EHOSTUNREACH)?.contains("do not leave this machine (10.0.0.7:5004: ") == true)
    }

    /// A firewall may reject with several kinds of ICMP error, which have the same numbers as failures of this machine.
    @Test(arguments: [EHOSTUNREACH, ENETUNREACH, EACCES, EPERM, EPROTO])
    func packetsThatTheNetworkRejectsHaveLeftThisMachine(code: Int32) {
        let rejected = line(lan) {
            $0.network.lastFailure = .init(destination: lan, code: code, isOfNetwork: true)
        }
        #expect(
            rejected?.hasPrefix("your packets do not reach 10.0.0.7:5004: a router on the way, or a firewall") == true)
    }

    @Test func aStrayDatagramIsNoCause() {
        #expect(line(lan) { ($0.network.received, $0.unopenedCount) = (1, 1) } == line(lan))
        #expect(line(lan) { ($0.network.received, $0.unopenedCount) = (2, 2) } == NobodyHint.otherKey)
    }

    @Test func packetsThatArriveAndAreOfNoUseAreNamed() {
        let encrypted = line(lan) { ($0.network.received, $0.unopenedCount) = (3, 3) }
        #expect(encrypted == NobodyHint.otherKey)
        var session = RTPSession(
            identity: Identity(ssrc: SSRC(1)), configuration: RTPSessionConfiguration(), at: .start)
        let noise: [UInt8] = [0x17, 1, 2, 3]
        for _ in 0..<2 { _ = session.receive(noise.span, from: lan, at: .start) }
        var hint = NobodyHint(configuration(lan))
        var snapshot = RadioSnapshot(rtpSession: session, elapsed: .seconds(10))
        snapshot.network.received = 2
        #expect(
            hint?.line(snapshot, port: 5004)
                == "nothing of use has arrived at port 5004 for 10 s, only datagrams that are "
                + "neither RTP nor RTCP: check what the other end sends")
    }

    @Test func itComesOnceAndNotBeforeTenSeconds() {
        var hint = NobodyHint(configuration(lan))
        #expect(hint?.line(snapshot(after: .seconds(9.9)), port: 5004) == nil)
        #expect(hint?.line(snapshot(after: .seconds(10)), port: 5004) != nil)
        #expect(hint?.line(snapshot(after: .seconds(20)), port: 5004) == nil)
    }

    @Test func whereSomebodyIsThereNothingIsSaid() {
        var hint = NobodyHint(configuration(lan))
        // A report, and then nothing more: others say that somebody no longer answers.
        #expect(hint?.line(snapshot(after: .seconds(1)) { $0.network.received = 1 }, port: 5004) == nil)
        #expect(hint?.line(snapshot(after: .seconds(60)), port: 5004) == nil)
        #expect(line(lan) { $0.talkers = [.init(ssrc: SSRC(7))] } == nil)
    }

    @Test func itIsForThoseWhoReceiveOutsideChannels() {
        var sending = configuration(lan)
        sending.output = nil
        #expect(NobodyHint(sending) == nil)
    }
}
