import ArgumentParser

/// Sends speech through a simulated network to a receiver, on a simulated clock.
@main
struct Losslab: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send speech through simulated networks and write what a receiver plays, faster than real time.",
        subcommands: [Receive.self, Call.self, Cost.self, Packets.self, LossRun.self, Pitch.self],
        defaultSubcommand: Receive.self)
}
