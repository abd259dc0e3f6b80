private import CSodium
private import Glibc
private import TenfourSystem

/// Memory for secrets, in pages that are never written to the swap space, and are left out of core dumps. It may be used on
/// any thread.
///
/// Small secrets share pages, because the system lets a user lock only some megabytes (`ulimit -l`). Where it locks no more,
/// the bytes are in ordinary memory, which is still left out of dumps. The C function is `sodium_mlock`.
@safe enum SecretMemory {
    private static let pageByteCount = 4_096
    /// The sizes of slots; a page has slots of one size. Longer secrets have pages of their own.
    private static let sizes: InlineArray<5, Int> = [16, 32, 64, 128, 512]

    /// The free slots of each size. Unchecked, because they are used under the lock only.
    @safe private struct FreeSlots: @unchecked Sendable {
        var slots: InlineArray<5, [UnsafeMutableRawPointer]> = unsafe InlineArray { _ in unsafe [] }
    }

    private static let free = Locked(FreeSlots())

    /// Returns at least `byteCount` bytes that are zero. Free them with the same `byteCount`.
    static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        guard let size = sizes.indices.first(where: { sizes[$0] >= byteCount }) else {
            return unsafe allocatePages(byteCount)
        }
        return unsafe free.withLock { free in
            if let slot = unsafe free.slots[size].popLast() { return unsafe slot }
            let page = unsafe allocatePages(pageByteCount)
            for offset in stride(from: sizes[size], to: pageByteCount, by: sizes[size]) {
                unsafe free.slots[size].append(page + offset)
            }
            return unsafe page
        }
    }

    /// Zeroes the bytes, and frees them.
    static func free(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
        guard let size = sizes.indices.first(where: { sizes[$0] >= byteCount }) else {
            return unsafe freePages(start, byteCount)
        }
        unsafe sodium_memzero(start, sizes[size])
        free.withLock { free in unsafe free.slots[size].append(start) }
    }

    /// Returns locked pages with at least `byteCount` bytes that are zero. Free them with the same `byteCount`.
    static func allocatePages(_ byteCount: Int) -> UnsafeMutableRawPointer {
        precondition(isReady, "libsodium cannot work here")
        let count = wholePages(byteCount)
        guard let start = unsafe aligned_alloc(pageByteCount, count) else {
            preconditionFailure("no memory for a secret")
        }
        unsafe memset(start, 0, count)
        _ = unsafe sodium_mlock(start, count)
        return unsafe start
    }

    /// Zeroes, unlocks and frees pages.
    static func freePages(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
        // The C function zeroes the bytes first, also if they were not locked.
        _ = unsafe sodium_munlock(start, wholePages(byteCount))
        unsafe Glibc.free(start)
    }

    private static func wholePages(_ byteCount: Int) -> Int {
        max(byteCount + pageByteCount - 1, pageByteCount) / pageByteCount * pageByteCount
    }

    /// Initialises libsodium once (`sodium_init`), which selects the fastest code for this processor. Without this call all
    /// functions work, but slowly.
    static let isReady = sodium_init() >= 0
}
