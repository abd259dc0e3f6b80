/// A tone by which a station tells its user something without a screen. It is played locally and never sent.
public enum SignalTone: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// The user may talk now: three short notes, as radios play them (talk permit tone).
    case permit
    /// Somebody else talks, or the floor is refused: one low note.
    case busy
    /// The transmission ends in ten seconds: two high notes.
    case timeOutWarning
    /// A station has joined: two rising notes.
    case joined
    /// A station has left: two falling notes.
    case left
    /// The connection stands: three rising notes.
    case connected
    /// The connection is lost: three falling notes.
    case lost
    /// A transmission has ended: two notes, high and low (roger beep).
    case roger
    /// Somebody calls: a high and a low note, twice.
    case ring

    /// The name by which a user switches the tone on or off, such as `time-out`.
    public var name: String {
        switch self {
        case .permit: "permit"
        case .busy: "busy"
        case .timeOutWarning: "time-out"
        case .joined: "joined"
        case .left: "left"
        case .connected: "connected"
        case .lost: "lost"
        case .roger: "roger"
        case .ring: "ring"
        }
    }

    /// The tone of this name; nil if there is none.
    public init?(name: String) {
        guard let tone = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = tone
    }

    /// The notes, one after the other.
    @_noAllocation @_noLocks
    func note(_ index: Int) -> SignalNote? {
        switch (self, index) {
        case (.permit, 0), (.permit, 2), (.permit, 4): SignalNote(hertz: 910, milliseconds: 35)
        case (.permit, 1), (.permit, 3): SignalNote(hertz: 0, milliseconds: 25)
        case (.busy, 0): SignalNote(hertz: 310, milliseconds: 300)
        case (.timeOutWarning, 0), (.timeOutWarning, 2): SignalNote(hertz: 1_480, milliseconds: 90)
        case (.timeOutWarning, 1): SignalNote(hertz: 0, milliseconds: 60)
        case (.joined, 0), (.left, 1): SignalNote(hertz: 587, milliseconds: 80)
        case (.joined, 1), (.left, 0): SignalNote(hertz: 880, milliseconds: 80)
        case (.connected, 0), (.lost, 2): SignalNote(hertz: 523, milliseconds: 80)
        case (.connected, 1), (.lost, 1): SignalNote(hertz: 659, milliseconds: 80)
        case (.connected, 2), (.lost, 0): SignalNote(hertz: 784, milliseconds: 120)
        case (.roger, 0): SignalNote(hertz: 1_175, milliseconds: 60)
        case (.roger, 1): SignalNote(hertz: 784, milliseconds: 60)
        case (.ring, 0), (.ring, 2): SignalNote(hertz: 988, milliseconds: 100)
        case (.ring, 1), (.ring, 3): SignalNote(hertz: 740, milliseconds: 100)
        default: nil
        }
    }
}

/// A sine of one frequency, or a rest.
struct SignalNote: BitwiseCopyable, Sendable {
    /// The frequency; 0 for a rest.
    var hertz: Float
    var milliseconds: Int

    @_noAllocation @_noLocks
    init(hertz: Float, milliseconds: Int) {
        self.hertz = hertz
        self.milliseconds = milliseconds
    }
}
