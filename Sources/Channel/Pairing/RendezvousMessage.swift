package import TenfourChannelKeys

/// A datagram between a station and the relay through which it pairs (Protocol/11-pairing.md). Nothing in it is
/// authenticated, except the pass.
package enum RendezvousMessage: Hashable, Sendable {
    /// A responder asks for a number, and shows its share for the pass.
    case place(nonce: UInt128, Cookie, share: SharePoint)
    /// The relay's answer to PLACE.
    case number(nonce: UInt128, PlaceAnswer)
    /// An initiator asks for the station that waits under a number. `initiator` is the number of its run.
    case meet(nonce: UInt128, Cookie, RendezvousNumber, initiator: UInt64)
    /// The relay's answer to MEET.
    case met(nonce: UInt128, initiator: UInt64, MeetOutcome)
    /// The pass of the channel, for the responder.
    case pass(SealedPass)
    /// A responder no longer waits, and gives its number back.
    case leave(nonce: UInt128, Cookie, share: SharePoint)

    /// The relay's answer to PLACE.
    package enum PlaceAnswer: Hashable, Sendable {
        /// The station waits under this number, for this many seconds.
        case number(RendezvousNumber, seconds: UInt16)
        case refused(PlaceRefusal)
    }

    /// The reason why a relay gives no number.
    package enum PlaceRefusal: UInt8, Sendable, CaseIterable {
        /// All places are taken.
        case full = 1
        /// The station's host has as many places as a host may have, or asks for them too often.
        case tooMany = 2
    }

    /// The relay's answer to MEET.
    package enum MeetOutcome: UInt8, Sendable, CaseIterable {
        /// The relay passes on the messages of the run.
        case met = 1
        /// No station waits under this number.
        case unknown = 2
        /// Another run with the station is in progress, or the relay passes on as many runs as it may.
        case wait = 3
        /// The initiator's host or network has named too many wrong numbers.
        case tooManyNumbers = 4
        /// The initiator's host has used its runs with this station.
        case tooManyRuns = 5
    }

    /// The length of PLACE and MEET. It is at least that of all datagrams that one of them may cause.
    package static let requestByteCount = 128
    static let headerByteCount = 4

    /// The third byte of the datagram; the numbers below are the kinds of `PairingMessage`.
    package enum Kind: UInt8 {
        case place = 9
        case number = 10
        case meet = 11
        case met = 12
        case pass = 13
        case leave = 14
    }

    package var kind: Kind {
        switch self {
        case .place: .place
        case .number: .number
        case .meet: .meet
        case .met: .met
        case .pass: .pass
        case .leave: .leave
        }
    }

    /// Nil if the datagram is not a message of this version with one of these kinds.
    package init?(parsing datagram: Span<UInt8>) {
        guard datagram.count >= Self.headerByteCount, datagram[0] == PairingMessage.firstByte,
            datagram[1] == PairingMessage.version, datagram[3] == 0, let kind = Kind(rawValue: datagram[2])
        else { return nil }
        switch (kind, datagram.count) {
        case (.place, Self.requestByteCount):
            guard datagram.isZero(in: 72..<128) else { return nil }
            self = .place(
                nonce: datagram.number(at: 4), Cookie(parsing: datagram, at: 20),
                share: SharePoint(parsing: datagram, at: 40))
        case (.number, 28):
            guard datagram[27] == 0, let answer = PlaceAnswer(parsing: datagram) else { return nil }
            self = .number(nonce: datagram.number(at: 4), answer)
        case (.meet, Self.requestByteCount):
            guard datagram.isZero(in: 52..<128), let number = RendezvousNumber(rawValue: datagram.number(at: 40))
            else { return nil }
            self = .meet(
                nonce: datagram.number(at: 4), Cookie(parsing: datagram, at: 20), number,
                initiator: datagram.number(at: 44))
        case (.met, 32):
            guard datagram.isZero(in: 29..<32), let outcome = MeetOutcome(rawValue: datagram[28]) else { return nil }
            self = .met(nonce: datagram.number(at: 4), initiator: datagram.number(at: 20), outcome)
        case (.pass, SealedPass.datagramByteCount):
            self = .pass(SealedPass(parsing: datagram))
        case (.leave, 72):
            self = .leave(
                nonce: datagram.number(at: 4), Cookie(parsing: datagram, at: 20),
                share: SharePoint(parsing: datagram, at: 40))
        default: return nil
        }
    }

    /// The datagram.
    package var bytes: [UInt8] { [UInt8](capacity: Self.requestByteCount) { write(into: &$0) } }

    /// Appends the datagram, at most 128 bytes.
    package func write(into datagram: inout OutputSpan<UInt8>) {
        Self.writeHeader(kind, into: &datagram)
        switch self {
        case .place(let nonce, let cookie, let share):
            datagram.append(number: nonce)
            cookie.write(into: &datagram)
            share.write(into: &datagram)
            datagram.append(zeros: 56)
        case .number(let nonce, let answer):
            datagram.append(number: nonce)
            answer.write(into: &datagram)
            datagram.append(0)
        case .meet(let nonce, let cookie, let number, let initiator):
            datagram.append(number: nonce)
            cookie.write(into: &datagram)
            datagram.append(number: number.rawValue)
            datagram.append(number: initiator)
            datagram.append(zeros: 76)
        case .met(let nonce, let initiator, let outcome):
            datagram.append(number: nonce)
            datagram.append(number: initiator)
            datagram.append(outcome.rawValue)
            datagram.append(zeros: 3)
        case .pass(let pass): pass.writeBody(into: &datagram)
        case .leave(let nonce, let cookie, let share):
            datagram.append(number: nonce)
            cookie.write(into: &datagram)
            share.write(into: &datagram)
        }
    }

    static func writeHeader(_ kind: Kind, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(PairingMessage.firstByte)
        datagram.append(PairingMessage.version)
        datagram.append(kind.rawValue)
        datagram.append(0)
    }
}

extension RendezvousMessage.PlaceAnswer {
    /// Reads the number, the time and the reason at byte 20 of a NUMBER.
    fileprivate init?(parsing datagram: Span<UInt8>) {
        let seconds: UInt16 = datagram.number(at: 24)
        if let number = RendezvousNumber(rawValue: datagram.number(at: 20)) {
            guard datagram[26] == 0 else { return nil }
            self = .number(number, seconds: seconds)
        } else {
            guard datagram.isZero(in: 20..<26), let reason = RendezvousMessage.PlaceRefusal(rawValue: datagram[26])
            else { return nil }
            self = .refused(reason)
        }
    }

    fileprivate func write(into datagram: inout OutputSpan<UInt8>) {
        switch self {
        case .number(let number, let seconds):
            datagram.append(number: number.rawValue)
            datagram.append(number: seconds)
            datagram.append(0)
        case .refused(let reason):
            datagram.append(zeros: 6)
            datagram.append(reason.rawValue)
        }
    }
}
