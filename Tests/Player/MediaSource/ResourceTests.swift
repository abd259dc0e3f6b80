import TenfourMediaSource
import Testing

struct ResourceTests {
    @Test(arguments: [
        ("song.mp3", Resource.file(path: "song.mp3")), ("-", .standardInput), ("/a/b", .file(path: "/a/b")),
        ("file:///a%20b", .file(path: "/a b")), ("file://localhost/a", .file(path: "/a")),
        ("HTTP://host/a", .http(address: "http://host/a")), ("https://host", .http(address: "https://host")),
        ("http://host/Bj\u{F6}rk 1#x", .http(address: "http://host/Bj%C3%B6rk%201")),
        ("http://host/a%20b?c=d", .http(address: "http://host/a%20b?c=d")),
        ("one: the other.mp3", .file(path: "one: the other.mp3")),
    ])
    func aPersonWrites(text: String, meaning: Resource) throws {
        #expect(try Resource(text) == meaning)
    }

    @Test(arguments: [
        "", "http://", "http:///path", "ftp://host/a", "http://host/\u{1B}[2J", "file:relative", "file:///a%0", "a\0b",
    ])
    func anEmptyNameIsRefused(text: String) {
        #expect(throws: ResourceError.self) { try Resource(text) }
    }

    @Test(arguments: [
        "httpx://user:hunter2@host/a", "http:/user:hunter2@host/a", "http://user:hunter2@", "rtp://user:hunter2@host",
        "https://user:hunter2@host/a?b", "https:///user:hunter2@host/a",
    ])
    func noMessageHasAPassword(text: String) {
        #expect(!Resource.shown(text).contains("hunter2"))
        do throws(ResourceError) {
            #expect(!(try Resource(text).description.contains("hunter2")))
        } catch {
            #expect(!error.description.contains("hunter2"), "\(error)")
        }
    }

    @Test func otherNamesAreShownAsTheyAre() {
        for name in ["a@b.mp3", "a/b@c", "x: y/z@w", "C:/a@b", "http://host/a@b"] {
            #expect(Resource.shown(name) == name)
        }
    }

    /// The examples of RFC 3986, section 5.4, that apply to media addresses.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("g#s", "http://a/b/c/g"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../../../g", "http://a/g"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("https://b/c", "https://b/c"),
    ])
    func anAddressIsReadWhereItStands(reference: String, meaning: String) throws {
        #expect(try Resource("http://a/b/c/d;p?q").resolving(reference) == .http(address: meaning))
    }

    @Test func anAddressWithoutAPathHasOne() throws {
        #expect(try Resource("http://a").resolving("b") == .http(address: "http://a/b"))
        #expect(try Resource("http://a?q").resolving("b") == .http(address: "http://a/b"))
    }

    @Test func aRemotePlaylistCannotNameLocalFiles() throws {
        let list = try Resource("http://host/list.m3u")
        #expect(throws: ResourceError.self) { try list.resolving("file:///etc/passwd") }
        #expect(try list.resolving("/etc/passwd") == .http(address: "http://host/etc/passwd"))
    }

    @Test func filesAreReadBesideTheirList() throws {
        let list = try Resource("/music/list.m3u")
        #expect(try list.resolving("a.mp3") == .file(path: "/music/a.mp3"))
        #expect(try list.resolving("B\\c.mp3") == .file(path: "/music/B/c.mp3"))
        #expect(try list.resolving("/x.mp3") == .file(path: "/x.mp3"))
        #expect(try list.resolving("http://h/x") == .http(address: "http://h/x"))
        #expect(try Resource("list.m3u").resolving("a") == .file(path: "a"))
        #expect(try Resource.standardInput.resolving("a") == .file(path: "a"))
    }

    @Test func passwordsAreNotShown() throws {
        let resource = try Resource("https://joe:secret@host:8000/a?b")
        #expect(resource.description == "https://host:8000/a?b")
        #expect(resource.host == "host:8000")
        #expect(resource.url == "https://host:8000/a?b")
    }

    @Test func filesHaveURLsToo() throws {
        #expect(try Resource("/music/Ä b%c#d~.mp3").url == "file:///music/%C3%84%20b%25c%23d~.mp3")
        let relative = try #require(try Resource("a.mp3").url)
        #expect(relative.hasPrefix("file:///") && relative.hasSuffix("/a.mp3"))
        #expect(try Resource(relative) != Resource("a.mp3"))
        #expect(Resource.standardInput.url == nil)
        #expect(try Resource("/" + String(repeating: "x", count: 2_000)).url == nil)
    }
}
