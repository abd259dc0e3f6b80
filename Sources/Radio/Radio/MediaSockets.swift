internal import TenfourSession
internal import TenfourUV

/// The UDP ports of a session.
extension NetworkLoop {
    /// Opens the socket for media, and another for reports on the port above it, if one is configured.
    static func open(
        _ configuration: RadioConfiguration, on loop: EventLoop
    ) throws(NetworkError) -> (UDPSocket, UDPSocket?) {
        var options = SocketOptions()
        if let multicast = configuration.multicast {
            options.reusesAddress = multicast.group != nil
            options.multicastInterface = multicast.interface
            options.multicastTimeToLive = multicast.timeToLive
        }
        options.takesYieldedPort = true
        let media = try UDPSocket(on: loop, bindingTo: configuration.local, options: options)
        let control = try openControl(configuration, on: loop, above: media.localEndpoint, options)
        if let multicast = configuration.multicast, let group = multicast.group {
            try media.join(group: group, interface: multicast.interface)
            try control?.join(group: group, interface: multicast.interface)
        }
        return (media, control)
    }

    /// Opens the socket for reports on the port above the port of the media.
    ///
    /// Some programs send reports to that port even if the receiver multiplexes RTCP. So a session with an output opens
    /// the port even without a request of the user. In that case a failure is no error, and the session yields the port
    /// to another tenfour on this machine.
    private static func openControl(
        _ configuration: RadioConfiguration, on loop: EventLoop, above media: Endpoint, _ options: SocketOptions
    ) throws(NetworkError) -> UDPSocket? {
        var above = media
        above.port &+= 1
        if configuration.rtpSession.controlPort == .next {
            return try UDPSocket(on: loop, bindingTo: above, options: options)
        }
        let isPartners = configuration.rtpSession.remotes.contains { $0.port == above.port && $0.address.isLocal }
        guard configuration.output != nil, media.port.isMultiple(of: 2), !isPartners else { return nil }
        var options = options
        options.takesYieldedPort = false
        options.yieldsPort = true
        return try? UDPSocket(on: loop, bindingTo: above, options: options)
    }
}
