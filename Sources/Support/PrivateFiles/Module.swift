// Files of mode 0600, which only their owner may read: they are read with their mode checked, and written in one piece.
// `DiskSync` waits for the disk, for any file. This module does not know what the files hold.
