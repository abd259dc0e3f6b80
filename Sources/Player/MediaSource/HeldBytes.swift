/// A contiguous range of a longer byte stream: appended at the end, copied from anywhere, dropped from the start.
///
/// The bytes are stored in chunks, so that the memory grows with their number and no byte is moved, or in an unnamed
/// file.
@safe struct HeldBytes: ~Copyable {
    /// The range of offsets of the held bytes.
    private(set) var held = 0..<0

    private var chunks: [UnsafeMutableRawPointer] = unsafe []
    /// The offset of the first chunk's first byte.
    private var base = 0
    /// A released chunk, reused by the next allocation.
    private var spare: UnsafeMutableRawPointer?
    private var file: UnnamedFile?

    private static let chunkByteCount = 64 << 10

    deinit {
        for index in unsafe chunks.indices { unsafe chunks[index].deallocate() }
        unsafe spare?.deallocate()
    }

    /// Drops all bytes. The bytes appended next begin at `offset`, in memory.
    mutating func restart(at offset: Int) {
        for index in unsafe chunks.indices { unsafe chunks[index].deallocate() }
        unsafe chunks.removeAll()
        held = offset..<offset
        base = offset
        file = nil
    }

    var isInFile: Bool { file != nil }

    /// Moves the bytes to an unnamed file; from then on no bytes are dropped. Throws if the disk is full.
    mutating func moveToFile() throws(ByteSourceError) {
        let file = try UnnamedFile()
        var offset = held.lowerBound
        while offset < held.upperBound {
            let (index, place) = position(of: offset)
            let count = min(held.upperBound - offset, Self.chunkByteCount - place)
            try unsafe file.write(UnsafeRawBufferPointer(start: chunks[index] + place, count: count), at: offset - base)
            offset += count
        }
        for index in unsafe chunks.indices { unsafe chunks[index].deallocate() }
        unsafe chunks.removeAll()
        self.file = consume file
    }

    /// Appends `bytes`. Throws if the bytes go to a file and the disk is full.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(ByteSourceError) {
        if file != nil {
            try unsafe file?.write(bytes, at: held.upperBound - base)
            held = held.lowerBound..<held.upperBound + bytes.count
            return
        }
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            let (index, place) = position(of: held.upperBound)
            if unsafe index == chunks.count { unsafe chunks.append(newChunk()) }
            let count = min(rest.count, Self.chunkByteCount - place)
            unsafe (chunks[index] + place).copyMemory(from: rest.baseAddress!, byteCount: count)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            held = held.lowerBound..<held.upperBound + count
        }
    }

    /// Copies as many held bytes from `offset` on as fit into `buffer`. Returns 0 if the byte at `offset` is not held.
    func copy(from offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        guard held.contains(offset) else { return 0 }
        let total = min(buffer.count, held.upperBound - offset)
        if file != nil {
            return try unsafe file?.read(into: .init(rebasing: buffer[..<total]), at: offset - base) ?? 0
        }
        var done = 0
        while done < total {
            let (index, place) = position(of: offset + done)
            let count = min(total - done, Self.chunkByteCount - place)
            unsafe (buffer.baseAddress! + done).copyMemory(from: chunks[index] + place, byteCount: count)
            done += count
        }
        return total
    }

    /// Allows the bytes before `offset` to be dropped.
    mutating func forget(before offset: Int) {
        let first = min(offset, held.upperBound)
        guard first > held.lowerBound, file == nil else { return }
        held = first..<held.upperBound
        let count = unsafe min((first - base) / Self.chunkByteCount, chunks.count)
        guard count > 0 else { return }
        for index in 0..<count { unsafe recycle(chunks[index]) }
        unsafe chunks.removeFirst(count)
        base += count * Self.chunkByteCount
    }

    private func position(of offset: Int) -> (chunk: Int, place: Int) {
        ((offset - base) / Self.chunkByteCount, (offset - base) % Self.chunkByteCount)
    }

    private mutating func newChunk() -> UnsafeMutableRawPointer {
        let chunk = unsafe spare ?? .allocate(byteCount: Self.chunkByteCount, alignment: 16)
        unsafe spare = nil
        return unsafe chunk
    }

    private mutating func recycle(_ chunk: UnsafeMutableRawPointer) {
        if unsafe spare == nil { unsafe spare = chunk } else { unsafe chunk.deallocate() }
    }
}
