package import TenfourChannelMember

/// The words about clocks that differ. A session in a channel and the doctor say the same.
package enum ClockWords {
    /// The command that sets this machine's clock over the network.
    package static let setting = "`sudo timedatectl set-ntp true`"
    /// The consequence of clocks that differ (Protocol/05-channel-keys.md).
    package static let consequence = "stations whose clocks differ by more than 10 s do not hear each other"
    /// The remedy if nobody knows which of two clocks is wrong.
    package static let comparison =
        "compare both with a third clock, and let the wrong one be set over the network (NTP): \(setting)"
    package static let unsynchronised = "is not synchronised over the network (NTP)"

    /// Returns a clause such as `this clock is 3600 s (1 h) behind that of relay.example`. `ahead` is the other clock less
    /// ours.
    package static func difference(_ ahead: Duration, from other: String) -> String {
        "this clock is \(offset(ahead)) that of \(other)"
    }

    /// Returns how our clock lies to another one, such as `3.0 s behind`.
    package static func offset(_ ahead: Duration) -> String {
        "\(amount(ahead)) \(ahead > .zero ? "behind" : "ahead of")"
    }

    /// Returns the amount of a difference, such as `3.0 s`, or `3600 s (1 h)`.
    package static func amount(_ difference: Duration) -> String {
        let magnitude = difference < .zero ? .zero - difference : difference
        let tenths = magnitude.components.seconds * 10 + magnitude.components.attoseconds / 100_000_000_000_000_000
        guard tenths >= 1_000 else { return "\(tenths / 10).\(tenths % 10) s" }
        let seconds = (tenths + 5) / 10
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        // The two largest units are exact enough for a person.
        let shown = parts.drop { $0.0 == 0 }.prefix(2).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "\(seconds) s (\(shown.joined(separator: " ")))"
    }
}

extension ClockDifference {
    /// Returns the sentence about the relay's clock and ours. `relay` names the relay, and `isSynchronised` is what the
    /// kernel says of our clock.
    package func sentence(relay: String, isSynchronised: Bool) -> String {
        let what = ClockWords.difference(ahead, from: relay)
        switch (isSynchronised, isOwnUsed) {
        case (true, true):
            return "\(what): \(ClockWords.consequence), and either clock may be wrong; \(ClockWords.comparison)"
        case (true, false):
            return "\(what), whose time is used here because of --clock unknown: either clock may be wrong; "
                + ClockWords.comparison
        case (false, true):
            return "\(what), and it \(ClockWords.unsynchronised), although --clock right says that it is right: "
                + "\(ClockWords.consequence); let it be set: \(ClockWords.setting), or leave --clock right out"
        case (false, false):
            return "\(what), and it \(ClockWords.unsynchronised), so the relay's time is used in this channel; "
                + "let it be set: \(ClockWords.setting)"
        }
    }

    /// The sentence when the clocks agree again.
    package static func agreement(with relay: String) -> String { "this clock and that of \(relay) agree again" }
}

extension TimeRefusal.Cause {
    /// Returns the sentence about a talker who is not heard for this cause. `isSynchronised` is what the kernel says of our
    /// clock.
    package func sentence(of talker: String, isSynchronised: Bool) -> String {
        switch self {
        case .delay(let delay):
            return
                "part of what \(talker) says is not played: the packets come \(ClockWords.amount(delay)) late, held back "
                + "by the network, or by somebody who recorded them; the clocks are not the cause, and `tenfour doctor` "
                + "examines the network"
        case .clock(let difference):
            // The offset is that of the station, seen from our clock.
            let offset = ClockWords.offset(.zero - difference.ahead)
            let other = difference.isOwnUsed ? "this one" : "the relay's, whose time is used here"
            let what = "\(talker) is not heard: that station's clock is \(offset) \(other)"
            guard isSynchronised || !difference.isOwnUsed else {
                return "\(what), which \(ClockWords.unsynchronised); let it be set: \(ClockWords.setting)"
            }
            return "\(what), or somebody plays recorded audio; either clock may be wrong: \(ClockWords.comparison)"
        }
    }
}
