/**
 * Service: process groups that have to die with the server, also when it is killed with -9 (L8), and directories of ours
 * that nobody else would remove then.
 *
 * One watchdog for the whole server: a shell that reads from a pipe which groups there are, and that kills them when
 * the pipe ends, as it does however the server ends. It costs one process and three lines per command: a watchdog in
 * each group costs two more processes per command and becomes its child, and `setpriv --pdeathsig` covers neither
 * grandchildren nor macOS. It says which groups it knows; until then their programs are held back, so that nothing runs
 * of which it does not know. Descendants that left their group (`setsid`, daemons) carry a mark of this server, by which
 * the watchdog finds them.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { linePattern, type Mark, markOf, prefixRange, settingLine } from "./Mark.ts"

/**
 * Lines `+ NAME`, which are answered with the name, and `- NAME`, in any number and in any state; a name is the number of
 * a group or the path of a directory. It kills with the shell's own `kill`, and does not go by itself when a terminal or a
 * supervisor asks everything at once to end, nor when nobody is left to hear an answer. Programs have fixed paths:
 * `command -p` also searches `/usr/local`, which may be a workspace.
 *
 * Once its groups are killed it searches for processes with a mark that begins with its argument. A process may start
 * another one unseen between the listing and the reading: the search ends when two in a row find nothing, or after a
 * number of rounds where a process cannot be killed. The watchdog of a server that was itself started by a command of
 * another server removes that server's mark from itself, or it would be killed before its work is done.
 */
const watchdog = `
trap '' HUP INT TERM PIPE
${settingLine("unlimited")}
end='
'
known=$end
while IFS= read -r line; do
  name=\${line#??}
  case $known in
    *"$end$name$end"*) known="\${known%%"$end$name$end"*}$end\${known#*"$end$name$end"}" ;;
  esac
  case $line in
    +*) known="$known$name$end"; echo "$name" ;;
  esac
done
IFS=$end
set -f
for name in $known; do
  case $name in /*) ;; *) kill -s KILL -- "-$name" ;; esac
done
set +f
empty=0
rounds=0
while [ "$empty" -lt 2 ] && [ "$rounds" -lt 50 ] && cd /proc; do
  empty=$((empty + 1))
  rounds=$((rounds + 1))
  for limits in $(/bin/grep -lE "${linePattern("$1")}" [0-9]*/limits); do
    kill -s KILL "\${limits%/limits}"
    empty=0
  done
done
set -f
for name in $known; do
  case $name in /*) /bin/rmdir -- "$name" "\${name%/*}" ;; esac
done
`

/** Lines the watchdog has not read yet; it reads at once. */
const maxUnread = 1024

export class Reaper extends Context.Service<
  Reaper,
  {
    /**
     * Starts the watchdog unless it runs, and tells whether it does. Where it cannot be started, that is logged and
     * commands run without.
     */
    readonly ready: Effect.Effect<boolean>
    /** A new mark: what carries it is to die with the server. Needs no further word to the watchdog. */
    readonly mark: Effect.Effect<Mark>
    /** This group is to die with the server. Returns once the watchdog knows, or is itself gone. */
    readonly add: (group: number) => Effect.Effect<void>
    /** This group is over: its number may soon be somebody else's. */
    readonly remove: (group: number) => Effect.Effect<void>
    /** This empty directory, then the one that holds it if nothing else is in it, are to go with the server. */
    readonly tidy: (directory: string) => Effect.Effect<void>
    /** This directory is gone, or somebody else's by now. */
    readonly tidied: (directory: string) => Effect.Effect<void>
  }
>()("@colloquy/tools/Reaper") {
  static readonly layer = Layer.effect(
    this,
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const scope = yield* Effect.scope
      return yield* make(spawner, scope)
    }),
  )
}

const commandReading = (
  lines: Stream.Stream<string>,
  prefix: number,
): ChildProcess.StandardCommand =>
  ChildProcess.make("/bin/sh", ["-c", watchdog, "colloquy-watchdog", String(prefix)], {
    cwd: "/",
    env: {},
    stdin: Stream.encodeText(lines),
    stderr: "ignore",
    killSignal: "SIGKILL",
  })

const make = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  scope: Scope.Scope,
) {
  /** Of groups and directories. */
  const names = new Set<number | string>()
  /** Groups for which the watchdog has not answered yet. */
  const unheard = new Map<number, Deferred.Deferred<void>>()
  const starting = yield* Semaphore.make(1)
  const prefix = yield* Random.nextIntBetween(...prefixRange)
  let marks = 0
  /** Where the watchdog that runs reads from. */
  let lines: Queue.Queue<string> | undefined

  const heard = (group: number) => {
    const waiting = unheard.get(group)
    if (waiting !== undefined) Deferred.doneUnsafe(waiting, Exit.void)
  }
  /** To the watchdog's end. */
  const read = ({ stdout }: ChildProcessSpawner.ChildProcessHandle) =>
    stdout.pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => Effect.sync(() => heard(Number(line)))),
    )

  const start = Effect.gen(function* () {
    if (lines !== undefined) return
    const queue = yield* Queue.bounded<string>(maxUnread)
    const known = Stream.fromIterable([...names].map((name) => `+ ${name}\n`))
    const lifetime = yield* Scope.fork(scope)
    const command = commandReading(Stream.concat(known, Stream.fromQueue(queue)), prefix)
    // From here on groups are told of, and wait in the queue.
    lines = queue
    const handle = yield* spawner.spawn(command).pipe(
      Scope.provide(lifetime),
      Effect.tapError(() => Effect.sync(() => (lines = undefined))),
    )
    // Killed by somebody: the next command starts another one, which hears of everything.
    const over = Effect.suspend(() => {
      lines = undefined
      for (const group of unheard.keys()) heard(group)
      return Effect.andThen(Queue.shutdown(queue), Scope.close(lifetime, Exit.void))
    })
    yield* Effect.forkIn(Effect.andThen(Effect.exit(read(handle)), over), scope)
  })

  const tell = (line: string) =>
    Effect.suspend(() => (lines === undefined ? Effect.void : Queue.offer(lines, line)))

  const add = (name: number | string) =>
    Effect.suspend(() => {
      names.add(name)
      return tell(`+ ${name}\n`)
    })
  const remove = (name: number | string) =>
    Effect.suspend(() => (names.delete(name) ? tell(`- ${name}\n`) : Effect.void))

  const addAndWait = (group: number) =>
    Effect.suspend(() => {
      if (lines === undefined) return add(group)
      const answer = Deferred.makeUnsafe<void>()
      unheard.set(group, answer)
      return Effect.andThen(add(group), Deferred.await(answer)).pipe(
        Effect.ensuring(Effect.sync(() => unheard.delete(group))),
      )
    })

  return Reaper.of({
    ready: starting.withPermit(start).pipe(
      Effect.as(true),
      Effect.catch((error) =>
        Effect.as(
          Effect.logWarning("commands outlive a server that is killed: no watchdog", error.message),
          false,
        ),
      ),
    ),
    mark: Effect.sync(() => markOf(prefix, marks++)),
    add: addAndWait,
    remove,
    // A path of two lines would be two names.
    tidy: (directory) => (directory.includes("\n") ? Effect.void : add(directory)),
    tidied: remove,
  })
})
