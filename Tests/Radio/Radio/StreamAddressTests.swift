import TenfourChannelKeys
import TenfourRadio
import Testing

@Suite struct StreamAddressTests {
    @Test(
        arguments: [
            ("rtp://10.0.0.7:5004", "10.0.0.7", 5004), ("rtp://10.0.0.7", "10.0.0.7", nil),
            ("10.0.0.7:6000", "10.0.0.7", 6000),
            ("bob.local", "bob.local", nil), ("bob.local:6000", "bob.local", 6000), ("RTP://bob:1", "bob", 1),
            ("rtp://@239.0.1.10:5004", "239.0.1.10", 5004), ("rtp://:5004", "", 5004), (":5004", "", 5004),
            ("rtp://", "", nil),
            ("", "", nil), ("rtp://[2001:db8::7]:65535", "2001:db8::7", 65_535),
            ("rtp://[2001:db8::7]", "2001:db8::7", nil),
            ("2001:db8::7", "2001:db8::7", nil), ("rtp://[fe80::1%eth0]:5004", "fe80::1%eth0", 5004),
            ("::1", "::1", nil),
            ("rtp://@[ff02::1]:5004/", "ff02::1", 5004), ("rtp://10.0.0.7:5004/", "10.0.0.7", 5004),
        ] as [(String, String, UInt16?)])
    func typedAddressesAreParsed(text: String, host: String, port: UInt16?) throws {
        let address = try StreamAddress(parsing: text)
        #expect(address == StreamAddress(host: host, port: port))
        #expect(address.port == port ?? 5004)
    }

    @Test(arguments: [
        "rtp://user:hunter2@10.0.0.7", "rtp://user:hunter2@10.0.0.7:5004", "user:hunter2@bob.local", "hunter2@bob",
        "http://user:hunter2@bob/path", "rtp://user:hunter2@bob:x", "rtp://hunter2@[::1", "rtp://a@hunter2@bob?x",
        "rtp://user:hunter2/x@bob", "rtp://user:hunter2#x@bob", "rtp://user:hun#ter2?hunter2@bob#hunter2",
    ])
    func aPasswordIsNeitherAcceptedNorShown(text: String) {
        let error = #expect(throws: RadioError.self) { try StreamAddress(parsing: text) }
        #expect(error?.kind == .usage && error?.description.contains("hunter2") == false, "\(error!)")
    }

    @Test(arguments: [
        ("http://10.0.0.7", "http://"), ("rtsp://camera/1", "rtsp://"), ("rtp://10.0.0.7:port", "'port'"),
        ("bob:", "''"),
        ("bob:0", "'0'"), ("bob:65536", "'65536'"), ("bob:-1", "'-1'"), ("bob:+1", "'+1'"),
        ("bob:5004/path", "rtp://HOST:PORT"),
        ("bob alice", "rtp://HOST:PORT"), ("rtp://bob?x=1", "rtp://HOST:PORT"), ("rtp://bob#1", "rtp://HOST:PORT"),
        ("rtp://[2001:db8::7", "bracket"), ("rtp://[2001:db8::7]5004", "bracket"), ("rtp://[]:5004", "bracket"),
        ("bob:٥", "'٥'"),
    ])
    func ambiguousAddressesGetAClearError(text: String, names: String) {
        do {
            let address = try StreamAddress(parsing: text)
            Issue.record("\(text) was read as \(address)")
        } catch {
            #expect(error.kind == .usage)
            #expect(error.description.contains(names), "\(error)")
            #expect(error.description.contains("write "), "the error text says what to write")
            #expect(!error.description.contains("\n"))
        }
    }

    private static let link = "tenfour://radio.example.org/family#talk-swvb-ssop-fynh-xtny-shhj-rods-2eep"

    @Test func whomOneNamesIsToldFromTheScheme() throws {
        let bob = StreamAddress(host: "bob", port: 1)
        #expect(try RadioAddress(parsing: "bob:1") == .rtp(bob))
        #expect(try RadioAddress(parsing: "rtp://bob:1") == .rtp(bob))
        #expect(try RadioAddress(parsing: "SRTP://bob:1") == .srtp(bob))
        #expect(try RadioAddress(parsing: Self.link) == .channel(ChannelLink(Self.link)))
    }

    /// A link that cannot be parsed is never used as a plain address, and its secret never appears in the error text.
    @Test(arguments: [
        "tenfour://radio.example.org/family", "tenfour://radio.example.org/family#", "TENFOUR://radio.example.org",
        link + "x", "tenfuor://radio.example.org/family#talk-swvb-ssop-fynh-xtny-shhj-rods-2eep",
        "family#talk-swvb-ssop-fynh-xtny-shhj-rods-2eep", "rtp://bob:5#talk-swvb-ssop-fynh-xtny-shhj-rods-2eep",
    ])
    func aLinkThatIsNoneIsNoAddressEither(text: String) {
        do {
            _ = try RadioAddress(parsing: text)
            Issue.record("parsed without an error")
        } catch {
            #expect(error.kind == .usage && !error.description.contains("swvb"), "\(error)")
        }
    }
}
