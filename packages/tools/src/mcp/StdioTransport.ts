/**
 * A tool server as a child process: started without a shell in its own process group, with messages as lines, ended
 * with its scope (L8). At the end its input is closed, then the group gets SIGTERM, then SIGKILL, and every descendant
 * that left the group is killed with it. When the Colloquy server is killed, the watchdog does this.
 *
 * Its environment is what was configured and, of the Colloquy server's environment, only what programs need to run:
 * never a key.
 *
 *     held back --released by the first line of its input--> running --exits or closes its output--> ended
 *                                                              +--sends too much--> stopped
 *     scope closes: input closed --200 ms--> SIGTERM to the group --500 ms--> SIGKILL, then marked descendants
 */
import { ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import type { McpServer } from "@colloquy/core/ConversationSettings"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as StartGate from "../process/StartGate.ts"
import type { ProcessMark } from "../process/ProcessMark.ts"
import { ProcessGroup } from "../process/ProcessGroup.ts"
import { Watchdog } from "../process/Watchdog.ts"
import { killMarkedOrWarn } from "../process/MarkedProcesses.ts"
import * as UnsolicitedLimit from "./UnsolicitedLimit.ts"
import * as LineTransport from "./LineTransport.ts"
import * as ToolTransport from "./ToolTransport.ts"
import type { Receiving } from "./ServerRequests.ts"
import { ToolServerError } from "./ToolConnection.ts"

/** The configuration of a tool server that is started as a process. */
export type StdioServer = Extract<McpServer["transport"], { readonly _tag: "Stdio" }>

/** Time that a server may take after SIGTERM, before it gets SIGKILL. */
const grace = Duration.millis(500)
/** How long to wait for the exit code after the output ended, to report it. */
const exitWait = Duration.millis(500)
/** Time that a server may take to end by itself after its input was closed, before it gets SIGTERM. */
const closeWait = Duration.millis(200)
const maxStderrChars = 2_000
const shownStderrChars = 500
/** Shorter values are no secrets, and removing them would spoil the text. */
const minSecretChars = 6

/** The end of the server's error output, without the values of its configured environment. */
const makeStderr = (env: Readonly<Record<string, string>>) => {
  const decoder = new TextDecoder()
  let tail = ""
  return {
    push: (chunk: Uint8Array) => {
      tail = (tail + decoder.decode(chunk.subarray(-maxStderrChars))).slice(-maxStderrChars)
    },
    text: () => {
      let text = tail.trim()
      for (const value of Object.values(env)) {
        if (value.length >= minSecretChars) text = text.replaceAll(value, "[redacted]")
      }
      return text.slice(-shownStderrChars).toWellFormed()
    },
  }
}

const cannotRun = (command: string, why: string): string =>
  `cannot run \`${command}\`: ${why === "NotFound" ? "no such program or directory" : why}`

/** The reason in the platform's terms, as for a server without a gate. */
const reasonOf = (gateError: string): string =>
  StartGate.errorCode(gateError) === "ENOENT" ? "NotFound" : "PermissionDenied"

const notStarted = (command: string) => (error: { readonly reason: { readonly _tag: string } }) =>
  new ToolServerError({ message: cannotRun(command, error.reason._tag) })

/** The command; with a mark it is held back until the watchdog knows it. */
const commandOf = (
  server: StdioServer,
  env: Readonly<Record<string, string>>,
  mark: ProcessMark | undefined,
): ChildProcess.StandardCommand => {
  const own = [server.command, ...server.args] as const
  const [program, ...args] =
    mark === undefined ? own : StartGate.gatedArgv({ argv: own, env, hasInput: true, mark })
  return ChildProcess.make(program, args, {
    env: { ...env },
    ...(server.cwd === undefined ? {} : { cwd: server.cwd }),
    forceKillAfter: grace,
  })
}

interface ServerParts {
  /** As configured; part of the reason why the server ended. */
  readonly name: string
  readonly server: StdioServer
  readonly handle: ChildProcessSpawner.ChildProcessHandle
  /** True when the process is held back until it is released, which the first line of its input does. */
  readonly isGated: boolean
  readonly gauge: UnsolicitedLimit.UnsolicitedLimit
  readonly stderrEnded: Deferred.Deferred<void>
}

/** One started process: reads its error output, and describes how it ended. */
class ServerProcess {
  private readonly parts: ServerParts
  private readonly stderr: ReturnType<typeof makeStderr>
  /**
   * True once a tool was called. A person wants to know why a server does not start; what it logs while it works is not
   * for the model.
   */
  private called = false

  constructor(parts: ServerParts) {
    this.parts = parts
    this.stderr = makeStderr(parts.server.env)
  }

  /** The options of the connection over the process's streams. */
  lineOptions(receiving: Receiving): LineTransport.LineTransportOptions {
    const { gauge, handle, isGated } = this.parts
    return {
      incoming: handle.stdout,
      outgoing: handle.stdin,
      ...(isGated ? { first: Stream.make(StartGate.releaseLine) } : {}),
      ...receiving,
      gauge,
      describe: (ending) => this.describe(ending),
    }
  }

  /** The connection, which also remembers that a tool was called. */
  connection(lines: ToolTransport.ToolTransport): ToolTransport.ToolTransport {
    return {
      ...lines,
      transport: {
        ...lines.transport,
        request: (message, tool) =>
          Effect.suspend(() => {
            this.called ||= message.method === ToolsCall._tag
            return lines.transport.request(message, tool)
          }),
      },
    }
  }

  /** Reads the error output to its end; one that is too long ends the connection. Never fails. */
  readStderr(lines: ToolTransport.ToolTransport): Effect.Effect<void> {
    const { gauge, handle, stderrEnded } = this.parts
    return handle.stderr.pipe(
      Stream.runForEach((chunk) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          this.stderr.push(chunk)
          return gauge.spend(chunk.length + UnsolicitedLimit.bytesPerMessage, now)
            ? Effect.void
            : lines.end({
                _tag: "Stopped",
                why: `it sent ${UnsolicitedLimit.limit}, the last of it to its error output`,
              })
        }),
      ),
      // The error output reports nothing that the end of the process does not.
      Effect.ignore,
      Effect.ensuring(Deferred.succeed(stderrEnded, undefined)),
    )
  }

  /**
   * Ends the connection once the process has ended. A dead server normally ends its output; a living one that closed it
   * cannot answer any more either.
   */
  endWithProcess(lines: ToolTransport.ToolTransport): Effect.Effect<void> {
    return Effect.exit(this.parts.handle.exitCode).pipe(
      Effect.andThen(Effect.sleep(exitWait)),
      Effect.andThen(lines.end({ _tag: "Closed" })),
    )
  }

  /** Closes the input and waits briefly for the process to end; its scope then ends it with signals. */
  closeInput(lines: ToolTransport.ToolTransport): Effect.Effect<void> {
    return Effect.andThen(
      lines.endInput,
      Effect.asVoid(Effect.timeoutOption(Effect.exit(this.parts.handle.exitCode), closeWait)),
    )
  }

  private describe(ending: ToolTransport.Ending): Effect.Effect<string> {
    const { isGated, name, server } = this.parts
    const isStopped = ending._tag === "Stopped"
    const how = isStopped ? Effect.succeed(`was stopped: ${ending.why}`) : this.exit()
    const output = this.called || isStopped ? Effect.succeed("") : this.completeStderr()
    return Effect.map(Effect.zip(how, output), ([what, text]) => {
      if (isGated && StartGate.isGateError(text)) return cannotRun(server.command, reasonOf(text))
      const stderr = text === "" ? "" : `; its error output ends with: ${text}`
      return `the tool server \`${name}\` ${what}${stderr}`
    })
  }

  private exit(): Effect.Effect<string> {
    return this.parts.handle.exitCode.pipe(
      Effect.map((code) => `ended with exit code ${code}`),
      // Killed by a signal is a failure of `exitCode`, not a code.
      Effect.orElseSucceed(() => "was killed by a signal"),
      Effect.timeoutOrElse({
        duration: exitWait,
        orElse: () => Effect.succeed("closed its output, and its process still runs"),
      }),
    )
  }

  /** The end of the error output, once all of it was read or the time for that is over. */
  private completeStderr(): Effect.Effect<string> {
    return Effect.map(Effect.timeoutOption(Deferred.await(this.parts.stderrEnded), exitWait), () =>
      this.stderr.text(),
    )
  }
}

/** Starts the process in the scope, known to the watchdog; it is held back until it is released if that runs. */
const startProcess = Effect.fnUntraced(function* (
  server: StdioServer,
  environment: Readonly<Record<string, string>>,
) {
  const watchdog = yield* Watchdog
  const processes = yield* ProcessGroup
  const isGated = yield* watchdog.ready
  const mark = isGated ? yield* watchdog.mark : undefined
  const startedAtNanos = yield* Clock.monotonicTimeNanos
  let group: number | undefined
  // Registered before the process, so done after it: until then the watchdog has to know of it.
  yield* Effect.addFinalizer(
    Effect.fnUntraced(function* () {
      if (group === undefined) return
      if (mark !== undefined)
        yield* killMarkedOrWarn(processes, { mark, pid: group, startedAtNanos })
      yield* watchdog.remove(group)
    }),
  )
  const handle = yield* commandOf(server, environment, mark).pipe(
    Effect.mapError(notStarted(server.command)),
  )
  group = handle.pid
  yield* watchdog.add(group)
  return { handle, isGated }
})

/**
 * Starts a tool server and opens the connection to it; both end with the scope.
 *
 * @param name as configured; part of the reason why it ended
 * @param environment the whole environment
 */
export const make = Effect.fnUntraced(function* (
  name: string,
  server: StdioServer,
  environment: Readonly<Record<string, string>>,
  receiving: Receiving,
): Effect.fn.Return<
  ToolTransport.ToolTransport,
  ToolServerError,
  ChildProcessSpawner.ChildProcessSpawner | ProcessGroup | Watchdog | Scope.Scope
> {
  const { handle, isGated } = yield* startProcess(server, environment)
  const gauge = UnsolicitedLimit.make(yield* Clock.currentTimeMillis)
  const stderrEnded = yield* Deferred.make<void>()
  const child = new ServerProcess({ name, server, handle, isGated, gauge, stderrEnded })
  const lines = yield* LineTransport.make(child.lineOptions(receiving))
  yield* Effect.forkScoped(child.readStderr(lines))
  yield* Effect.forkScoped(child.endWithProcess(lines))
  yield* Effect.addFinalizer(() => child.closeInput(lines))
  return child.connection(lines)
})
