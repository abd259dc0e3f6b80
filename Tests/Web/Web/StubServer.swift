import TestSupport
import Testing

/// A server that accepts every connection, answers the first request on it with `answer`, and then reads no more.
final class StubServer {
    let port = UDPPort.free()
    private let program: Program

    /// Answers nothing if `answer` is empty.
    init(answer: String = "") throws {
        program = try Program(
            "python3",
            [
                "-c",
                """
                import socket, sys
                listener = socket.socket()
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                listener.bind(("127.0.0.1", \(port)))
                listener.listen()
                clients = []
                while True:
                    clients.append(listener.accept()[0])
                    if sys.argv[1] and clients[-1].recv(4096): clients[-1].sendall(sys.argv[1].encode())
                """, answer,
            ])
        let program = program
        try #require(program.wait(.seconds(20)) { TCPPort.isListening(port) || !program.isRunning })
    }
}
