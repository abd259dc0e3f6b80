package import OpusCodec
internal import RTP
internal import Sound

/// Which of libopus's neural models decode what is heard, as a person chooses.
public enum DecoderChoice: String, Hashable, Sendable, CaseIterable {
    /// All that the library has and this machine is fast enough for.
    case auto
    /// None: the decoder's complexity is 0.
    case plain
    /// Lost frames by deep PLC: complexity 5.
    case plc
    /// Speech enhanced as well: by NoLACE where it has in-band FEC, otherwise by LACE: complexity 7 and 6.
    case full

    init(_ complexity: DecoderComplexity) {
        switch complexity {
        case .plain: self = .plain
        case .plc: self = .plc
        case .lace, .noLACE: self = .full
        }
    }

    var most: DecoderComplexity {
        switch self {
        case .auto, .full: .noLACE
        case .plc: .plc
        case .plain: .plain
        }
    }
}

/// What the decoders of a listener may do, which is settled before the sound starts.
package struct DecoderConfiguration: Hashable, Sendable {
    /// The most that is used.
    package var complexity: DecoderComplexity
    /// Costs of what is used as they were measured; zero where no time is measured.
    package var costs: DecoderCosts
    /// By how much a decoder may be late at the most; nil where no time is measured: on a simulated clock.
    package var slack: Duration?

    /// A trial that found a step to take more than this part of the slack rules it out: so it may take five times as long of
    /// a sudden, and no sound is late.
    private static let share = 8

    /// On a simulated clock: what the library that is loaded has of `choice`.
    package init(_ choice: DecoderChoice = .auto) {
        complexity = choice == .plain ? .plain : min(choice.most, DecoderModels.loaded.complexity)
        costs = DecoderCosts()
    }

    /// For a card: what a `trial` found, as far as it takes less than an eighth of `slack`.
    package init(_ choice: DecoderChoice, _ trial: DecoderTrial, slack: Duration) {
        let limit = slack / Self.share
        let here = min(choice.most, trial.models.complexity)
        let fit = trial.costs.filter { max($0.value.concealed, $0.value.decoded) <= limit && $0.key <= here }
        complexity = fit.keys.max() ?? .plain
        costs = trial.costs[complexity] ?? DecoderCosts()
        self.slack = slack
    }

    /// What senders are told of it.
    var concealment: PacketLossConcealment { complexity > .plain ? .deep : .plain }

    /// `decodes with libopus 1.5.2: deep PLC and LACE, 0.41 ms for a lost frame`.
    func summary(_ choice: DecoderChoice, _ trial: DecoderTrial) -> String {
        let library = "decodes with \(OpusDecoder.library)"
        guard complexity == .plain else {
            return "\(library): \(complexity.models), \(Self.text(costs.concealed)) for a lost frame"
        }
        guard choice != .plain else { return "\(library): plain, as chosen" }
        guard trial.models.complexity > .plain else { return "\(library): plain; this library has no neural models" }
        let cost = trial.costs[.plc].map { ": \(Self.text($0.concealed)) for a lost frame" } ?? ""
        return "\(library): plain; \(trial.models.complexity.models) would be too slow for this card\(cost)"
    }

    private static func text(_ duration: Duration) -> String {
        "\(((duration / .milliseconds(1)) * 100).rounded() / 100) ms"
    }
}

extension DecoderComplexity {
    /// In words.
    var models: String {
        switch self {
        case .plain: "plain"
        case .plc: "deep PLC"
        case .lace, .noLACE: "deep PLC and LACE"
        }
    }
}

extension DecoderTrial {
    /// What `choice` needs to know; nothing where no model is wanted.
    init(of choice: DecoderChoice) throws(RadioError) {
        do { self = try choice == .plain ? .none : Self(measuresCosts: true) } catch { throw RadioError(error) }
    }
}
