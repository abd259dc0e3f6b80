import TenfourCommandSupport
import TenfourPackets
import TenfourSession
import TenfourUV

/// Composes the lines about the events of an RTP session.
struct EventNotice {
    /// The names known before the event.
    let names: TalkerNames
    let channelStatus: ChannelStatus
    let verbose: Bool

    /// Returns the line about `event`; nil if it needs none.
    func line(for event: Event) -> String? {
        switch event {
        // The arrival of a member is announced from the relay's roster, so this notice only says that the member's
        // audio is received.
        case .sourceAppeared(let ssrc, _) where channelStatus.lists(ssrc):
            verbose || !names.hasHeard(ssrc) ? "hearing \(names[ssrc])" : nil
        case .sourceLeft(let ssrc, _) where channelStatus.lists(ssrc):
            verbose ? "\(names[ssrc]) is no longer heard" : nil
        case .sourceAppeared(let ssrc, let endpoint):
            endpoint.address.isUnspecified
                ? "hearing station \(ssrc.digits)"
                : "hearing \(names.name(of: ssrc) ?? "\(endpoint)")" + (verbose ? " (SSRC \(ssrc.digits))" : "")
        case .reporterAppeared(_, let name, let endpoint):
            "\(endpoint) is \(name.map(People.cut) ?? "here") and sends no audio yet"
        case .reporterLeft(let ssrc, .some(let reason)):
            "\(names[ssrc]) has left" + (reason.isEmpty ? "" : ": \(reason)")
        case .reporterLeft(let ssrc, .none): "\(names[ssrc]) no longer answers"
        case .sourceNamed(let ssrc, let name):
            names.isCalled(ssrc, name) ? nil : "\(names[ssrc]) is \(People.cut(name))"
        case .sourceLeft(let ssrc, .some(let reason)): "\(names[ssrc]) has left" + (reason.isEmpty ? "" : ": \(reason)")
        case .sourceLeft(let ssrc, .none): "\(names[ssrc]) is no longer heard"
        case .sourceLooksEncrypted(let ssrc):
            """
            the stream of \(names[ssrc]) looks encrypted and is not played: if it is SRTP, write srtp:// and give the key with \
            --srtp-key-file
            """
        case .opusRecognised(let ssrc, let type, let endpoint):
            "packets of payload type \(type) from \(sender(ssrc, endpoint)) are Opus and are played from now on"
                // A channel's members have no address, and its sessions not always this option.
                + (endpoint.address.isUnspecified ? "" : ": --payload-type \(type) plays them from the first one")
        case .payloadTypeUnknown(let ssrc, let type, let endpoint):
            Self.unplayed(type, from: sender(ssrc, endpoint))
        case .sourceClockIsWrong(let ssrc, _), .sourcesCollide(let ssrc, _, _), .sourceSendsTooFast(let ssrc, _):
            SourceNotice.line(for: event, of: names[ssrc])
        case .keyPressed(let ssrc, let event): "\(names[ssrc]) pressed the key \(event.key)"
        case .identityChanged(let ssrc):
            verbose ? "another station uses the same SSRC: this station's SSRC is now \(ssrc.digits)" : nil
        case .partnerMoved(let endpoint): "the other end's name now resolves to \(endpoint): talking with this address"
        case .mediaMissing, .mediaReturned, .hearingChanged: nil
        case .receiverReported(let ssrc, let view):
            verbose
                ? "\(names[ssrc]) reports a loss of \(decimal(view.lossShare * 100, places: 1))%"
                    + (view.roundTrip.map { ", \(text(of: $0)) round trip" } ?? "")
                : nil
        }
    }

    /// The address of a sender, or its name if it has no address, behind a relay.
    private func sender(_ ssrc: SSRC, _ endpoint: Endpoint) -> String {
        endpoint.address.isUnspecified ? names[ssrc] : "\(endpoint)"
    }

    /// Returns the line about packets of a payload type that are not played.
    private static func unplayed(_ type: UInt8, from sender: String) -> String {
        let packets = "packets of payload type \(type)"
        if let name = SessionDescription.Encoding.assigned(to: type)?.name {
            return "\(packets) (\(name)) arrive from \(sender) and cannot be played: let the sender use Opus or G.711"
        }
        let arrival = "\(packets) arrive from \(sender), and no codec is named for it"
        return (96...127).contains(type)
            ? "\(arrival): if it is Opus, write --payload-type \(type), or else give an SDP file of the sender"
            : "\(arrival): give an SDP file of the sender"
    }
}
