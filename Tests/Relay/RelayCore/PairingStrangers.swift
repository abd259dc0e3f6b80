import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// A host that keeps others from pairing. It gets its answers at once, and acts four times in a second.
class PairingStranger: RelayVisitor {
    func act(_ room: RelayHarness) {}

    /// Returns bytes that no relay can tell from a share of X25519.
    func drawShare() -> SharePoint {
        let bytes = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &randomness) }
        return SharePoint(Bytes32(bytes.span))
    }

    /// Asks for a new cookie before the former one is too old.
    func renewCookie(_ room: RelayHarness) {
        let second = room.now.nanoseconds / 1_000_000_000
        if cookie == nil || second >= renewal { knock(room) }
        if second >= renewal { renewal = second + 50 }
    }

    private var renewal: Int64 = 0
}

/// Holds as many places as a host may.
final class PlaceHolder: PairingStranger {
    private lazy var shares = (0..<4).map { _ in drawShare() }
    private var turn = 0
    /// How often all places were taken.
    private(set) var fullCount = 0

    override func act(_ room: RelayHarness) {
        renewCookie(room)
        turn += 1
        if placed(shares[turn % 4], room) == .refused(.full) { fullCount += 1 }
    }
}

/// Names random numbers, eight in a second.
final class NumberSweeper: PairingStranger {
    override func act(_ room: RelayHarness) {
        renewCookie(room)
        for _ in 0..<2 {
            _ = met(RendezvousNumber(using: &randomness), run: 1, room)
        }
    }
}

/// Waits under a number that only its partner knows, and never answers.
final class StallingResponder: PairingStranger {
    private(set) var number: RendezvousNumber?
    private lazy var share = drawShare()

    override func act(_ room: RelayHarness) {
        renewCookie(room)
        if case .number(let number, seconds: _)? = placed(share, room) { self.number = number }
    }
}

/// Meets its partner at the relay, and then sends as little as keeps the rendezvous.
final class StallingInitiator: PairingStranger {
    private let partner: StallingResponder
    private var run: UInt64 = 1
    private(set) var metCount = 0

    init(_ partner: StallingResponder, at endpoint: Endpoint, seed: UInt64) {
        self.partner = partner
        super.init(at: endpoint, seed: seed)
    }

    override func act(_ room: RelayHarness) {
        renewCookie(room)
        guard let number = partner.number else { return }
        if met(number, run: run, room) == .met { metCount += 1 } else { run += 1 }
    }
}

/// Joins the channels of passes with as many sessions as it can, and keeps them.
final class PassHolder: PairingStranger {
    private let keys: ChannelKeys
    private var members: [SimulatedMember] = []
    private var nextTry = Instant.start
    private var port: UInt16 = 10_000

    /// The strangers of a group have one pass, which a relay has once given them.
    init(at endpoint: Endpoint, seed: UInt64, group: Int) {
        var randomness = SeededRandom(seed: UInt64(group) + 50_000)
        let pass = RelayConfiguration.pairing().key.map { PassMaker($0).drawPass(using: &randomness) }
        keys = ChannelKeys(name: "pair", secret: Secret(.talk, using: &randomness), pass: pass)
        super.init(at: endpoint, seed: seed)
    }

    override func act(_ room: RelayHarness) {
        guard room.now >= nextTry else { return }
        nextTry = room.now + .seconds(members.isEmpty ? 2 : 10)
        for member in members {
            _ = room.take(member.endpoint)
            member.renew(room)
        }
        // A member that the relay has displaced gets no answer to its renewal, except that its session is unknown.
        members.removeAll { (room.inbox[$0.endpoint] ?? []).allSatisfy { $0.count == 12 } }
        guard members.count < 2 else { return }
        port += 1
        let member = SimulatedMember(keys, .talk, at: Endpoint(endpoint.address, port: port))
        if member.join(room) { members.append(member) }
    }
}

/// Sends HELLOs, and PLACEs and MEETs with false cookies, thirty-six of them in a second.
final class CookieForger: PairingStranger {
    override func act(_ room: RelayHarness) {
        for _ in 0..<3 { hello(room) }
        for _ in 0..<3 {
            let bytes = (0..<20).map { _ in UInt8.random(in: 0 ... .max, using: &randomness) }
            cookie = Cookie(parsing: bytes.span, at: 0)
            place(drawShare(), room)
            meet(RendezvousNumber(using: &randomness), run: 1, room)
        }
        _ = take(room)
    }
}
