import Glibc
import TenfourAudioCore
import TenfourSession
import TestSupport
import Testing

@testable import TenfourUV

struct NetworkErrorTests {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    /// A table in the format of /proc/net/udp6 with two sockets; the second one belongs to process 77.
    @Test func theOwnerOfAPortIsFound() throws {
        let root = "\(Folder.temporary)/tenfour-holder-\(getpid())"
        let folders = [root, "\(root)/net", "\(root)/77", "\(root)/77/fd", "\(root)/self"]
        for folder in folders { unsafe mkdir(folder, 0o700) }
        let (table, name, link) = ("\(root)/net/udp6", "\(root)/77/comm", "\(root)/77/fd/9")
        defer {
            for file in [table, name, link] { unsafe unlink(file) }
            for folder in folders.reversed() { unsafe rmdir(folder) }
        }
        let none = "00000000000000000000000000000000"
        let line = { (port: String, inode: Int) in
            "   1: \(none):\(port) \(none):0000 07 00000000:00000000 00:00000000 00000000     0        0 \(inode) 2 0 0\n"
        }
        try write("  sl  local_address …\n" + line("138D", 41) + line("138C", 42), to: table)
        try write("tenfour\n", to: name)
        unsafe symlink("socket:[42]", link)
        #expect(PortHolder(of: 5_004, root: root)?.description == "tenfour (process 77)")
        try write("\u{1B}[2Jrm\n", to: name)
        #expect(PortHolder(of: 5_004, root: root)?.program == "\u{FFFD}[2Jrm", "a name cannot draw on the terminal")
        #expect(PortHolder(of: 5_005, root: root) == nil, "a process that cannot be seen")
        #expect(PortHolder(of: 5_006, root: root) == nil)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try unsafe #require(unsafe fopen(path, "we"))
        unsafe fputs(text, file)
        unsafe fclose(file)
    }

    @Test func aPortThatIsTakenSaysWhatToDo() throws {
        let first = try UDPSocket(on: loop, bindingTo: Endpoint(.quietLoopback, port: 0))
        let port = first.localEndpoint.port
        let error = #expect(throws: NetworkError.self) {
            try UDPSocket(on: loop, bindingTo: first.localEndpoint)
        }
        #expect(error?.reason == .portInUse(port, by: PortHolder(of: port)))
        let sentence = try #require(error?.description)
        let parts = try #require(
            sentence.wholeMatch(of: /(.*), such as -p (\d+)(, or end that program)/)?.output)
        #expect(parts.1 == "UDP port \(port) is in use by this program itself; choose another")
        let free = try #require(UInt16(parts.2))
        #expect(free > port && (free - port).isMultiple(of: 2))
        // The socket that could not be bound was closed, so the port can be used when it is free.
        first.close()
        _ = try UDPSocket(on: loop, bindingTo: first.localEndpoint)
    }

    @Test func anAddressOfAnotherMachineIsRefused() throws {
        let elsewhere = IPAddress.v4(0xC633_6401)
        let error = #expect(throws: NetworkError.self) {
            try UDPSocket(on: loop, bindingTo: Endpoint(elsewhere, port: 0))
        }
        #expect(error?.reason == .addressNotLocal(elsewhere))
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aLinkLocalAddressNeedsItsInterface() throws {
        let address = IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 1, scope: 0)
        let error = #expect(throws: NetworkError.self) {
            try UDPSocket(on: loop, bindingTo: Endpoint(address, port: 0))
        }
        #expect(error?.reason == .interfaceMissing(address))
    }

    @Test func aReservedPortNamesTheOnesThatAreNot() {
        let error = NetworkError(bindingTo: Endpoint(.anyV4, port: 80), -EACCES)
        #expect(error.reason == .portReserved(80))
        #expect(error.description.contains("choose one from 1024 to 65535"))
    }

    @Test func theLimitOfOpenFilesIsNamed() {
        #expect(NetworkError("uv_loop_init", -EMFILE).description.contains("ulimit -n"))
    }

    @Test func anyOtherRefusalHasTheSystemsWords() {
        let error = NetworkError("uv_poll_init", -EBADF)
        #expect(
            error.description == "the system refused a request; try again, or end other programs (bad file descriptor)")
    }

    /// -3001 is UV_EAI_AGAIN, and -3008 UV_EAI_NONAME.
    @Test func noSentenceHasTheNameOfAFunction() {
        #expect(
            NetworkError(lookingUp: "bob.lan", -3008).description
                == "no host is called bob.lan; check the spelling, or give its IP address")
        #expect(
            NetworkError(lookingUp: "bob.lan", -3001).description
                == "the name bob.lan could not be looked up; check the network and its name server, or give the IP address (temporary failure)"
        )
    }

    @Test func aFailureToSendNamesItsDestination() {
        let failure = SocketStatistics.Failure(destination: Endpoint(.loopbackV4, port: 9), code: ECONNREFUSED)
        #expect(failure.description == "127.0.0.1:9: connection refused")
        #expect(SocketStatistics.Failure(destination: nil, code: ENOMEM).description == "not enough memory")
    }
}
