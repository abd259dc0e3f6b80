import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession

/// Feeds the bytes as a relay's configuration file. Files that it includes have the same content.
func feedRelayFile(_ bytes: Span<UInt8>) {
    let copied = [UInt8](capacity: bytes.count) { for index in bytes.indices { $0.append(bytes[index]) } }
    var file = RelayFile()
    file.add(bytes, of: "relay.conf") { $0.isEmpty ? nil : copied }
    if let path = file.statusSocket { precondition((1...107).contains(path.utf8.count)) }
    let finished: RelayServerConfiguration
    do throws(RelayFileErrors) { finished = try file.finished() } catch { return check(error) }
    precondition((1...64).contains(finished.workers) && !finished.bind.address.isMulticast)
    precondition(Endpoint(finished.bind.description) == finished.bind)
    let names = finished.relay.channels.map(\.name) + finished.plain.map(\.name)
    precondition(!names.isEmpty && Set(names).count == names.count, "two channels have one name")
    let ids = finished.relay.channels.flatMap { [$0.talkJoin.channelID, $0.listenJoin.channelID] }
    precondition(Set(ids).count == ids.count, "two channels have one key")
    for channel in finished.relay.channels {
        precondition((try? ChannelLink.channelName(channel.name)) == channel.name)
        precondition(JoinKey(.talk, configurationText: channel.talkJoin.configurationText) == channel.talkJoin)
        guard let owner = channel.owner else { continue }
        precondition(IdentityKey(configurationText: owner.configurationText) == owner)
        precondition(
            file.keyFile != nil && file.cluster.servers.isEmpty, "an owner's members cannot recognise the relay")
        precondition(!finished.web.channels.contains { $0.name == channel.name })
    }
    for channel in finished.plain {
        precondition(!channel.inputs.isEmpty && !channel.targets.isEmpty)
        for target in channel.targets {
            precondition(target.port > 0 && !target.address.isUnspecified)
            precondition(Endpoint(target.description) == target)
        }
    }
}

private func check(_ errors: RelayFileErrors) {
    precondition(!errors.isEmpty && errors.first.count == min(errors.count, RelayFileErrors.maximumCount))
    for error in errors.first {
        checkShown(error.description)
        if case .line(let number, _) = error.place { precondition(number > 0) }
    }
}
