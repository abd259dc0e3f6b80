internal import Engine
internal import RTP
internal import Sound

/// What one listener last said of a talker's stream.
struct ListenerView: Sendable {
    /// Of the packets since its last report, in 1/256.
    var fractionLost: UInt8
    /// What it takes redundant coding under; 255 where it does not.
    var redPayloadType: UInt8
    /// How far behind it may play, in milliseconds.
    var depth: UInt16
    /// When, in seconds.
    var second: UInt32
}

extension Relay {
    /// What a member said of others, who is none any more.
    mutating func forgetViews(of member: Int, in channel: Int) {
        for place in talking { talkers[place]?.voice?.views[Int32(member)] = nil }
    }

    /// Looks at what talkers have sent, and have not, when that is due.
    mutating func attendTalkers(at now: Instant) {
        for place in talking {
            guard let voice = talkers[place]?.voice else { continue }
            if isQuiet(voice, at: now) { hush(place) }
        }
    }

    var nextAttention: Instant? {
        var next: Instant?
        for place in talking {
            guard let voice = talkers[place]?.voice else { continue }
            next = min(next ?? .init(nanoseconds: .max), voice.lastPacket + Self.pause)
        }
        return next
    }
}
