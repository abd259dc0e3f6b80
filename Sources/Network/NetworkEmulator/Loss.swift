/// Which packets a network loses. Shares are 0…1.
public enum Loss: Hashable, Sendable {
    case none
    /// Each packet with the same probability, whatever happened to the one before (Bernoulli).
    case random(Double)
    /// `share` of the packets, in bursts of `meanLength` (1 or more) on average (Gilbert's model: every packet of a bad
    /// spell is lost). Because at least one packet comes through between two bursts, bursts are longer than `meanLength`
    /// where `share` is above `meanLength` / (`meanLength` + 1): above 75 % for bursts of 3.
    case bursts(share: Double, meanLength: Double)
    /// Gilbert and Elliott's model in full: before each packet a good spell turns bad with probability `toBad`, a bad one
    /// good with `toGood`; then the packet is lost with the probability of the spell.
    case gilbertElliott(toBad: Double, toGood: Double, lossInGood: Double, lossInBad: Double)
}

/// A `Loss` at work. Knows its own generator and the spell it is in.
struct LossProcess {
    private let toBad, toGood, lossInGood, lossInBad: Double
    private var generator: SeededRandom
    private var isBad: Bool

    init(_ loss: Loss, generator: SeededRandom) {
        (toBad, toGood, lossInGood, lossInBad) = chain(of: loss)
        self.generator = generator
        // The first packet finds the chain where it is in the long run, so that short runs have the right share too. What is
        // drawn here is the spell before it.
        isBad = self.generator.happens(toBad > 0 ? toBad / (toBad + toGood) : 0)
    }

    /// Whether the next packet is lost. Takes two numbers whatever the model, so that the same seed compares two of them.
    mutating func losesNext() -> Bool {
        if generator.happens(isBad ? toGood : toBad) { isBad.toggle() }
        return generator.happens(isBad ? lossInBad : lossInGood)
    }
}

private func chain(of loss: Loss) -> (toBad: Double, toGood: Double, lossInGood: Double, lossInBad: Double) {
    switch loss {
    case .none:
        return (0, 1, 0, 0)
    case .random(let share):
        return (0, 1, share, share)
    case .gilbertElliott(let toBad, let toGood, let lossInGood, let lossInBad):
        return (toBad, toGood, lossInGood, lossInBad)
    case .bursts(let share, let meanLength):
        guard share < 1 else { return (1, 0, 0, 1) }
        let toGood = 1 / max(meanLength, 1)
        let toBad = share * toGood / (1 - share)
        return toBad <= 1 ? (toBad, toGood, 0, 1) : (1, (1 - share) / share, 0, 1)
    }
}
