import TenfourChannelKeys
import TenfourRelayServer
import TenfourSeededRandom
import TenfourSession
import Testing

/// The lines of a relay file about listening over HTTP.
struct RelayFileWebTests {
    private static let keys = {
        var randomness = SeededRandom(seed: 1)
        return ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
    }()
    private static let channels = """
        channel family talk=\(keys.talkJoin?.configurationText ?? "") listen=\(keys.listenJoin.configurationText)
        rtp-in news=127.0.0.1:7000
        rtp-out news=239.0.1.10:5004

        """

    private func read(_ text: String) throws(RelayFileErrors) -> WebConfiguration {
        var file = RelayFile()
        let bytes = Array((Self.channels + text).utf8)
        file.add(bytes.span, of: "relay.conf")
        return try file.finished().web
    }

    @Test func everythingThatCanBeSetIsSet() throws {
        let web = try read(
            """
            http 0.0.0.0:8080
            web-address https://radio.example.org/listen
            web-proxy 10.0.0.5 fd00::5
            web-proxy 10.0.0.6
            http-host Radio.lan my_proxy
            http-host pi.local.
            web family link=keys/family.link token=family.token show-link
            web News token=/etc/tenfour/token
            """)
        #expect(web.bind == Endpoint(.anyV4, port: 8_080))
        #expect(web.address == "https://radio.example.org/listen/")
        #expect(web.proxies == Set(["10.0.0.5", "fd00::5", "10.0.0.6"].compactMap { IPAddress($0) }))
        #expect(web.hostNames == ["radio.example.org", "radio.lan", "my_proxy", "pi.local"])
        #expect(web.channels.map(\.name) == ["family", "news"])
        #expect(web.channels.map(\.linkFile) == ["keys/family.link", nil])
        #expect(web.channels.map(\.tokenFile) == ["family.token", "/etc/tenfour/token"])
        #expect(web.channels.map(\.showsLink) == [true, false])
    }

    @Test func anEncryptedChannelHasItsLinkInAFileOfItsName() throws {
        let web = try read("http 127.0.0.1:8080\nweb family\nweb news\n")
        #expect(web.channels.map(\.linkFile) == ["family.link", nil])
    }

    @Test func aPlainChannelOnTheWebNeedsNoTarget() throws {
        let web = try read("http 127.0.0.1:8080\nrtp-in studio=127.0.0.1:7002\nweb studio\n")
        #expect(web.channels.map(\.name) == ["studio"])
    }

    @Test func optionsOverrideTheLinesAndHaveCommas() throws {
        var file = RelayFile()
        let bytes = Array((Self.channels + "http 127.0.0.1:8080\nweb-address http://a/\nweb news\n").utf8)
        file.add(bytes.span, of: "relay.conf")
        file.replace("http", "127.0.0.1:8081")
        file.replace("web-address", "http://b:8081")
        file.add("web", "family,link=f.link,show-link")
        let web = try file.finished().web
        #expect(web.bind?.port == 8_081 && web.address == "http://b:8081/")
        #expect(web.channels.map(\.linkFile) == [nil, "f.link"] && web.channels.last?.showsLink == true)
    }

    @Test(arguments: [
        ("http 8080\nweb news", "line 4: http needs ADDRESS:PORT", "such as"),
        ("http 127.0.0.1:8080", "line 4: http needs a channel", "add web NAME"),
        ("http 127.0.0.1:8080\nhttp 127.0.0.1:8081\nweb news", "line 5: http appears a second time", "keep one"),
        ("web news", "line 4: web needs an HTTP server", "add http"),
        ("http 127.0.0.1:8080\nweb", "line 5: write: web NAME", "link=FILE"),
        ("http 127.0.0.1:8080\nweb news\nweb family secret=x", "line 6: write: web NAME", "link=FILE"),
        ("http 127.0.0.1:8080\nweb news\nweb family link=a link=b", "line 6: write: web NAME", "link=FILE"),
        ("http 127.0.0.1:8080\nweb news\nweb news", "line 6: web news appears a second time", "keep one"),
        ("http 127.0.0.1:8080\nweb gone", "line 5: there is no channel gone", "add its line"),
        ("http 127.0.0.1:8080\nweb news link=a", "line 5: channel news is not encrypted", "remove link="),
        ("http 127.0.0.1:8080\nweb news show-link", "line 5: channel news is not encrypted", "show-link"),
        ("http 127.0.0.1:8080\nweb news\nweb-address radio", "line 6: web-address needs", "https://"),
        ("http 127.0.0.1:8080\nweb news\nweb-address http://a/?b", "line 6: web-address needs", "https://"),
        ("http 127.0.0.1:8080\nweb news\nweb-address http:///a", "line 6: web-address needs", "https://"),
        ("http 127.0.0.1:8080\nweb news\nweb-proxy", "line 6: web-proxy needs addresses", "10.0.0.5"),
        ("http-host", "line 4: http-host needs host names", "radio.example.org"),
        ("http-host radio.lan:8080", "line 4: http-host needs host names", "without a port"),
        ("http-host radio.lan 192.0.2.1", "line 4: http-host needs host names", "IP addresses need no line"),
        ("http-host [::1]", "line 4: http-host needs host names", "IP addresses need no line"),
        ("http-host http://radio.lan/", "line 4: http-host needs host names", "without a port"),
        ("http 127.0.0.1:8080\nweb news\nweb-proxy 10.0.0.5 proxy", "line 6: web-proxy needs addresses", "10.0.0.5"),
        (
            "rtp-in a.ogg=127.0.0.1:7002\nhttp 127.0.0.1:8080\nweb news\nweb a.ogg",
            "line 7: the HTTP server needs the address /a.ogg for a stream", "another name"
        ),
        (
            "rtp-in channels.json=127.0.0.1:7002\nrtp-out channels.json=127.0.0.1:7004\nhttp 127.0.0.1:8080\nweb news\nweb channels.json",
            "line 8: the HTTP server needs the address /channels.json for a stream", "another name"
        ),
    ])
    func anErrorSaysWhereWhatAndWhatHelps(text: String, what: String, remedy: String) {
        do throws(RelayFileErrors) {
            _ = try read(text)
            Issue.record("accepted without an error")
        } catch {
            #expect(error.description.contains(what) && error.description.contains(remedy), "\(error)")
            #expect(error.count == 1, "\(error)")
        }
    }

    /// The operator has written these names already.
    @Test func namesOfThePageOfTheRelayAndOfLinksAreAnswered() throws {
        var web = try read(
            "name Radio.example.org:5006\nhttp 127.0.0.1:8080\nweb family\nweb-address https://page.example/x/\n")
        #expect(web.hostNames == ["radio.example.org", "page.example"])
        var randomness = SeededRandom(seed: 3)
        let secret = Secret(.listen, using: &randomness)
        let link = try ChannelLink(host: "home.example", port: 5006, name: "family", opening: .secret(secret))
        web.channels[0].membership = try WebConfiguration.Membership(link)
        #expect(web.hostNames == ["radio.example.org", "page.example", "home.example"])
    }

    @Test func aTalkLinkIsNeverShown() throws {
        var randomness = SeededRandom(seed: 2)
        let secret = Secret(.talk, using: &randomness)
        let link = try ChannelLink(host: "radio.example.org", name: "family", opening: .secret(secret))
        let membership = try WebConfiguration.Membership(link)
        #expect(membership.link.text().hasPrefix("tenfour://radio.example.org/family#listen-"))
        #expect(try ChannelKeys(membership.link).listenJoin == membership.keys.listenJoin)
    }
}
