/**
 * A pseudo-terminal around a command: a program in Python starts it in a new session whose terminal it has opened, and copies
 * what is written on either side. It runs where the command runs, in the sandbox or not, because a terminal of the server must
 * not be the command's. Its own input is a sequence of frames: a byte that says what follows, the length as four bytes with the
 * highest first, and that many bytes. Starts nothing itself.
 *
 * It ends when the command ends, whatever else still has the terminal open: the runner ends the rest (L8). A signal that ends it
 * ends the session of the command.
 */
import * as Stream from "effect/Stream"

/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly rows: number
  readonly cols: number
}

/** The terminal of a command. */
export interface Terminal {
  readonly size: TerminalSize
  /** Its later sizes. */
  readonly sizes: Stream.Stream<TerminalSize>
}

/** What a frame contains: bytes that are typed, a size, or that nothing more is typed. */
const frames = { typed: 0, size: 1, end: 2 } as const

/** The program; its arguments are the size, and the words of the command. */
const program = `
import errno, fcntl, os, pty, select, signal, struct, sys, termios

def resize(fd, rows, cols):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

words = sys.argv[3:]
child, master = pty.fork()
if child == 0:
    resize(0, int(sys.argv[1]), int(sys.argv[2]))
    try:
        os.execvp(words[0], words)
    except OSError as fault:
        os.write(2, ("%s: %s\\n" % (words[0], fault.strerror)).encode())
        os._exit(127)

def stop(number, _):
    for last in (signal.SIGHUP, signal.SIGKILL):
        try:
            os.killpg(child, last)
        except OSError:
            pass
    try:
        os.waitpid(child, 0)
    except OSError:
        pass
    os._exit(128 + number)

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, stop)
woken, waker = os.pipe()
os.set_blocking(waker, False)
os.set_blocking(master, False)
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.set_wakeup_fd(waker)
given, typed, reading, status = bytearray(), bytearray(), True, None

def copy():
    try:
        piece = os.read(master, 65536)
    except OSError as fault:
        return "later" if fault.errno == errno.EAGAIN else "closed"
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(1, rest):]
    return "more" if piece else "closed"

def take():
    while len(given) >= 5:
        kind, length = struct.unpack(">BI", bytes(given[:5]))
        if len(given) < 5 + length:
            return
        content = bytes(given[5:5 + length])
        del given[:5 + length]
        if kind == 0:
            typed.extend(content)
        elif kind == 1:
            resize(master, *struct.unpack(">HH", content))
        else:
            typed.extend(termios.tcgetattr(master)[6][termios.VEOF])

opened = True
while status is None:
    done, state = os.waitpid(child, os.WNOHANG)
    if done == child:
        status = state
        break
    readers = [woken] + ([master] if opened else []) + ([0] if reading and len(typed) < 65536 else [])
    ready, writable, _ = select.select(readers, [master] if typed and opened else [], [])
    if woken in ready:
        os.read(woken, 4096)
    if master in ready:
        opened = copy() != "closed"
    if 0 in ready:
        piece = os.read(0, 65536)
        reading = bool(piece)
        given.extend(piece)
        take()
    if writable:
        try:
            del typed[:os.write(master, typed)]
        except OSError as fault:
            if fault.errno != errno.EAGAIN:
                typed.clear()
# What the command has written before its end; others may write for ever.
for _ in range(64):
    if copy() != "more":
        break
os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`

/** The command in a terminal, which this Python opens. */
export const inTerminal = (
  python: string,
  argv: readonly [string, ...ReadonlyArray<string>],
  { cols, rows }: TerminalSize,
): readonly [string, ...ReadonlyArray<string>] => [
  python,
  // No module and no setting of the directory, the user or the environment is read.
  "-IS",
  "-c",
  program,
  String(rows),
  String(cols),
  ...argv,
]

const frame = (kind: keyof typeof frames, content: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(5 + content.length)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, frames[kind])
  view.setUint32(1, content.length)
  bytes.set(content, 5)
  return bytes
}

const sizeFrame = ({ cols, rows }: TerminalSize): Uint8Array => {
  const content = new DataView(new ArrayBuffer(4))
  content.setUint16(0, rows)
  content.setUint16(2, cols)
  return frame("size", new Uint8Array(content.buffer))
}

/** What the program reads: what is typed, then its end, and the sizes. */
export const terminalInput = (
  typed: Stream.Stream<Uint8Array>,
  sizes: Stream.Stream<TerminalSize>,
): Stream.Stream<Uint8Array> =>
  Stream.merge(
    Stream.concat(
      Stream.map(typed, (bytes) => frame("typed", bytes)),
      Stream.make(frame("end", new Uint8Array())),
    ),
    Stream.map(sizes, sizeFrame),
  )
