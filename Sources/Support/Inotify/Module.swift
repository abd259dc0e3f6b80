// Watches a folder by inotify, and parses the kernel's events. This module does not know what the files are.
