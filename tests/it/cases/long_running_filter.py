"""A filter that git starts once for many files: upper case in the repository, lower case in the worktree."""
import sys


def read_packet():
    size = int(sys.stdin.buffer.read(4) or b"0000", 16)
    return sys.stdin.buffer.read(size - 4) if size else None


def read_list():
    return [line.rstrip(b"\n") for line in iter(read_packet, None)]


def write(*packets):
    for data in packets:
        sys.stdout.buffer.write(b"%04x" % (len(data) + 4) + data if data is not None else b"0000")
    sys.stdout.buffer.flush()


read_list()
write(b"git-filter-server\n", b"version=2\n", None)
read_list()
write(b"capability=clean\n", b"capability=smudge\n", None)
while True:
    head = dict(line.split(b"=", 1) for line in read_list())
    if not head:
        break
    content = b"".join(iter(read_packet, None))
    if b"refuse" in head[b"pathname"]:
        write(b"status=error\n", None)
        continue
    content = content.upper() if head[b"command"] == b"clean" else content.lower()
    write(b"status=success\n", None)
    write(*[content[i:i + 60000] for i in range(0, len(content), 60000)], None, None)
