/**
 * Service: process groups that have to be killed when the server ends, even when it is killed by SIGKILL (L8), and
 * directories of the server that have to be removed then.
 *
 * One watchdog serves the whole server: a shell that reads the groups from a pipe and kills them when the pipe ends,
 * which it does however the server ends. It costs one process, and three lines per command. A watchdog in each group
 * would cost two more processes per command and become a child of the command; `setpriv --pdeathsig` covers neither
 * grandchildren nor macOS. The watchdog acknowledges each group; until then the program of the group is held back, so
 * that nothing runs that the watchdog does not know. Descendants that left their group (by `setsid`, or as daemons)
 * carry a mark of this server, by which the watchdog finds them.
 *
 *     not running --first command--> running --killed from outside--> not running (the next command starts it anew)
 *                                       |
 *                                       +--pipe ends with the server--> kills groups, then marked processes, then exits
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
import {
  linePattern,
  type ProcessMark,
  markOf,
  prefixRange,
  setMarkCommand,
} from "./ProcessMark.ts"

/**
 * Reads lines `+ NAME`, which it acknowledges with the name, and `- NAME`; a name is the number of a process group or
 * the path of a directory. It kills with the shell's own `kill`. It ignores the signals with which a terminal or a
 * supervisor ends everything, and a closed output. Programs have fixed paths: `command -p` would also search
 * `/usr/local`, which may be a workspace.
 *
 * After its groups it kills processes whose mark begins with its argument. A process may start another one unseen
 * between the listing and the reading, so the search ends when two passes in a row find nothing, or after 50 passes
 * where a process cannot be killed. The watchdog of a server that was itself started by a command of another server
 * removes that server's mark from itself, or it would be killed before its work is done.
 */
const watchdog = `
trap '' HUP INT TERM PIPE
${setMarkCommand("unlimited")}
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

/** Lines that the watchdog has not read yet; it normally reads at once. */
const maxUnread = 1024

/** Ends processes and removes directories when the server is gone; see the header of this file. */
export class Watchdog extends Context.Service<
  Watchdog,
  {
    /**
     * Starts the watchdog unless it runs, and reports whether it runs. When it cannot be started, a warning is logged
     * and commands run without it.
     */
    readonly ready: Effect.Effect<boolean>
    /** A new mark: the watchdog kills all processes that carry it, without being notified of the mark. */
    readonly mark: Effect.Effect<ProcessMark>
    /** Registers a group to be killed with the server. Resolves once the watchdog knows it, or has itself ended. */
    readonly add: (group: number) => Effect.Effect<void>
    /** Removes a group that is gone: the system may soon assign its number to another one. */
    readonly remove: (group: number) => Effect.Effect<void>
    /**
     * Registers an empty directory to be removed with the server, then the directory that contains it if it is empty.
     */
    readonly addDirectory: (directory: string) => Effect.Effect<void>
    /** Removes the registration of a directory that was removed or has other content by now. */
    readonly removeDirectory: (directory: string) => Effect.Effect<void>
  }
>()("@colloquy/tools/Watchdog") {
  /** Starts nothing; the watchdog is started by the first use of `ready`. */
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

/** The watchdog of one server: starts the shell when it is needed, and keeps all that is registered for the next start. */
class RunningWatchdog {
  private readonly spawner: ChildProcessSpawner.ChildProcessSpawner["Service"]
  private readonly scope: Scope.Scope
  private readonly prefix: number
  private readonly starting = Semaphore.makeUnsafe(1)
  /** Registered groups and directories. */
  private readonly names = new Set<number | string>()
  /** Groups that the watchdog has not acknowledged yet. */
  private readonly unacknowledged = new Map<number, Deferred.Deferred<void>>()
  private marks = 0
  /** Input of the running watchdog. */
  private lines: Queue.Queue<string> | undefined

  constructor(
    spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
    scope: Scope.Scope,
    prefix: number,
  ) {
    this.spawner = spawner
    this.scope = scope
    this.prefix = prefix
  }

  service(): Watchdog["Service"] {
    const remove = (name: number | string) => this.remove(name)
    return Watchdog.of({
      ready: this.ready(),
      mark: Effect.sync(() => markOf(this.prefix, this.marks++)),
      add: (group) => this.addAndWait(group),
      remove,
      // A path with a line feed would read as two names.
      addDirectory: (directory) => (directory.includes("\n") ? Effect.void : this.add(directory)),
      removeDirectory: remove,
    })
  }

  private ready(): Effect.Effect<boolean> {
    // A start that has begun is completed: its watchdog serves others than the command that is interrupted.
    return this.starting.withPermit(Effect.uninterruptible(this.start())).pipe(
      Effect.as(true),
      Effect.catch((error) =>
        Effect.as(
          Effect.logWarning("commands outlive a server that is killed: no watchdog", error.message),
          false,
        ),
      ),
    )
  }

  /** Starts the watchdog unless it runs, and sends it everything that is registered. */
  private start() {
    return Effect.gen({ self: this }, function* () {
      if (this.lines !== undefined) return
      const queue = yield* Queue.bounded<string>(maxUnread)
      const known = Stream.fromIterable([...this.names].map((name) => `+ ${name}\n`))
      const lifetime = yield* Scope.fork(this.scope)
      const command = commandReading(Stream.concat(known, Stream.fromQueue(queue)), this.prefix)
      // From here on new groups wait in the queue.
      this.lines = queue
      const handle = yield* this.spawner.spawn(command).pipe(
        Scope.provide(lifetime),
        Effect.tapError(() => Effect.sync(() => (this.lines = undefined))),
      )
      // When the watchdog is killed, the next command starts another one, which receives everything that is registered.
      const over = Effect.suspend(() => {
        this.lines = undefined
        for (const group of this.unacknowledged.keys()) this.acknowledge(group)
        return Effect.andThen(Queue.shutdown(queue), Scope.close(lifetime, Exit.void))
      })
      yield* Effect.forkIn(Effect.andThen(Effect.exit(this.read(handle)), over), this.scope)
    })
  }

  /** Reads acknowledgements until the watchdog ends. */
  private read({ stdout }: ChildProcessSpawner.ChildProcessHandle) {
    return stdout.pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => Effect.sync(() => this.acknowledge(Number(line)))),
    )
  }

  private acknowledge(group: number): void {
    const waiting = this.unacknowledged.get(group)
    if (waiting !== undefined) Deferred.doneUnsafe(waiting, Exit.void)
  }

  private send(line: string): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.lines === undefined ? Effect.void : Queue.offer(this.lines, line),
    )
  }

  private add(name: number | string): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.names.add(name)
      return this.send(`+ ${name}\n`)
    })
  }

  private remove(name: number | string): Effect.Effect<void> {
    return Effect.suspend(() => (this.names.delete(name) ? this.send(`- ${name}\n`) : Effect.void))
  }

  /** Adds a group, and waits for its acknowledgement where a watchdog runs. */
  private addAndWait(group: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.lines === undefined) return this.add(group)
      const acknowledged = Deferred.makeUnsafe<void>()
      this.unacknowledged.set(group, acknowledged)
      return Effect.andThen(this.add(group), Deferred.await(acknowledged)).pipe(
        Effect.ensuring(Effect.sync(() => this.unacknowledged.delete(group))),
      )
    })
  }
}

const make = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  scope: Scope.Scope,
) {
  const prefix = yield* Random.nextIntBetween(...prefixRange)
  return new RunningWatchdog(spawner, scope, prefix).service()
})
