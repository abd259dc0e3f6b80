/// A run of bytes of something longer: put in at one end, copied from anywhere, forgotten at the other.
///
/// In chunks, so that it takes the memory of what it holds and never moves it; or in a file without a name.
@safe struct HeldBytes: ~Copyable {
    /// The offsets of what it holds.
    private(set) var held = 0..<0

    private var chunks: [UnsafeMutableRawPointer] = unsafe []
    /// The offset of the first chunk's first byte.
    private var base = 0
    /// One that was given up, for the next that is needed.
    private var spare: UnsafeMutableRawPointer?
    private var file: UnnamedFile?

    private static let chunkByteCount = 64 << 10

    deinit {
        unsafe chunks.forEach { unsafe $0.deallocate() }
        unsafe spare?.deallocate()
    }

    /// Holds nothing, and takes the bytes from `offset` on, into memory.
    mutating func restart(at offset: Int) {
        unsafe chunks.forEach { unsafe $0.deallocate() }
        unsafe chunks.removeAll()
        held = offset..<offset
        base = offset
        file = nil
    }

    var isInFile: Bool { file != nil }

    /// Holds what it holds in a file from now on, and forgets nothing. Throws where the disk is full.
    mutating func moveToFile() throws(ByteSourceError) {
        let file = try UnnamedFile()
        var offset = held.lowerBound
        while offset < held.upperBound {
            let (index, place) = position(of: offset)
            let count = min(held.upperBound - offset, Self.chunkByteCount - place)
            try unsafe file.write(UnsafeRawBufferPointer(start: chunks[index] + place, count: count), at: offset - base)
            offset += count
        }
        unsafe chunks.forEach { unsafe $0.deallocate() }
        unsafe chunks.removeAll()
        self.file = consume file
    }

    /// Throws where it is in a file and the disk is full.
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

    /// Copies what it holds from `offset` on, as far as that goes or fits. 0 where it does not hold that offset.
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

    /// Need not hold what lies before `offset` any longer.
    mutating func forget(before offset: Int) {
        let first = min(offset, held.upperBound)
        guard first > held.lowerBound, file == nil else { return }
        held = first..<held.upperBound
        let count = unsafe min((first - base) / Self.chunkByteCount, chunks.count)
        guard count > 0 else { return }
        for index in 0..<count { unsafe giveUp(chunks[index]) }
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

    private mutating func giveUp(_ chunk: UnsafeMutableRawPointer) {
        if unsafe spare == nil { unsafe spare = chunk } else { unsafe chunk.deallocate() }
    }
}
