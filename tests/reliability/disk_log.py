"""What was asked of a disk (FAULTY_DISK_LOG of faulty_disk.cpp), and what could be on it had the power gone."""

import copy
import dataclasses
import itertools

SECTOR = 512


@dataclasses.dataclass
class Event:
    kind: str  # O open, R read, W write, T truncate, S sync, U unlink
    time_ns: int
    offset: int
    length: int
    path: str
    bytes: bytes = b""


def read_log(path):
    data, at, events = path.read_bytes(), 0, []
    while at < len(data):
        end = data.index(b"\n", at)
        kind, time_ns, offset, length, name = data[at:end].decode().split(" ", 4)
        event = Event(kind, int(time_ns), int(offset), int(length), name)
        at = end + 1
        if kind == "W":
            event.bytes = data[at:at + event.length]
            at += event.length
        events.append(event)
    return events


def written(content, event):
    if event.kind == "T":
        return content[:event.offset].ljust(event.offset, b"\0")
    return content[:event.offset].ljust(event.offset, b"\0") + event.bytes + content[event.offset + event.length:]


def pieces(event):
    """A write as a disk may do it: by sectors, each for itself."""
    if event.kind == "T":
        return [event]
    return [dataclasses.replace(event, offset=event.offset + begin, bytes=part, length=len(part))
            for begin in range(0, event.length, SECTOR) for part in [event.bytes[begin:begin + SECTOR]]]


class Disk:
    """Files in three forms: as programs see them, as they were last synced, and what was done to them since."""

    def __init__(self):
        self.seen, self.synced, self.pending, self.unlinked = {}, {}, {}, {}

    def copy(self):
        return copy.deepcopy(self)

    def do(self, event):
        path = event.path
        if event.kind == "O":
            if path not in self.seen:
                self.seen[path], self.synced[path], self.pending[path] = b"", b"", []
        elif event.kind in "WT":
            self.seen[path] = written(self.seen[path], event)
            self.pending[path].append(event)
        elif event.kind == "S":
            self.synced[path], self.pending[path] = self.seen[path], []
            self.unlinked = {}  # a journal of the file system is written in order, so what came before is on the disk
        elif event.kind == "U":
            self.unlinked[path] = self.synced.pop(path)
            del self.seen[path], self.pending[path]

    def with_everything(self):
        return dict(self.seen)

    def with_what_was_synced(self):
        return dict(self.synced)

    def with_unlinked_files_back(self):
        return {**self.unlinked, **self.synced}

    def rest(self):
        """What was not synced, by sectors: a write may be torn, a truncation left out."""
        return [piece for events in self.pending.values() for event in events for piece in pieces(event)]

    def with_these(self, rest):
        files = dict(self.synced)
        for piece in rest:
            files[piece.path] = written(files[piece.path], piece)
        return files

    def with_some_of_the_rest(self, draw):
        return self.with_these(piece for piece in self.rest() if draw.random() < 0.5)

    def with_any_of_the_rest(self):
        """Each state of the disk that could be found: 2 to the power of the number of sectors."""
        rest = self.rest()
        for chosen in itertools.product((False, True), repeat=len(rest)):
            yield self.with_these(itertools.compress(rest, chosen))
