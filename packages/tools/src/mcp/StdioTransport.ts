/**
 * A tool server as a child process: started without a shell in its own process group, with messages as lines, ended
 * with its scope (L8). At the end its input is closed, then the group gets SIGTERM, then SIGKILL, and every descendant
 * that left the group is killed with it. When the Colloquy server is killed, the watchdog does this.
 *
 * Its environment is what was configured and, of the Colloquy server's environment, only what programs need to run:
 * never a key.
 */
import { ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import type { McpServer } from "@colloquy/core/ConversationSettings"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as StartGate from "../process/StartGate.ts"
import type { ProcessMark } from "../process/ProcessMark.ts"
import { ProcessGroup } from "../process/ProcessGroup.ts"
import { Watchdog } from "../process/Watchdog.ts"
import { killMarked } from "../process/MarkedProcesses.ts"
import * as UnsolicitedLimit from "./UnsolicitedLimit.ts"
import * as LineTransport from "./LineTransport.ts"
import * as ToolTransport from "./ToolTransport.ts"
import type { Answering } from "./ServerRequests.ts"
import { ToolServerError } from "./ToolConnection.ts"

/** The configuration of a tool server that is started as a process. */
export type StdioServer = Extract<McpServer["transport"], { readonly _tag: "Stdio" }>

/** Time that a server may take after its input was closed, and again after SIGTERM. */
const grace = Duration.millis(500)
/** How long to wait for the exit code after the output ended, to report it. */
const exitWait = Duration.millis(500)
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
const reasonOf = (complaint: string): string =>
  StartGate.errorCode(complaint) === "ENOENT" ? "NotFound" : "PermissionDenied"

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

/**
 * @param name as configured; part of the reason why it ended
 * @param environment the whole environment
 */
export const make = Effect.fnUntraced(function* (
  name: string,
  server: StdioServer,
  environment: Readonly<Record<string, string>>,
  answering: Answering,
): Effect.fn.Return<
  ToolTransport.ToolTransport,
  ToolServerError,
  ChildProcessSpawner | ProcessGroup | Watchdog | Scope.Scope
> {
  const watchdog = yield* Watchdog
  const processes = yield* ProcessGroup
  const watched = yield* watchdog.ready
  const mark = watched ? yield* watchdog.mark : undefined
  const startedAtNanos = yield* Clock.monotonicTimeNanos
  let group: number | undefined
  // Registered before the process, so done after it: until then the watchdog has to know of it.
  yield* Effect.addFinalizer(
    Effect.fnUntraced(function* () {
      if (group === undefined) return
      if (mark !== undefined) yield* killMarked(processes, { mark, pid: group, startedAtNanos })
      yield* watchdog.remove(group)
    }),
  )
  const handle = yield* commandOf(server, environment, mark).pipe(
    Effect.mapError(notStarted(server.command)),
  )
  group = handle.pid
  yield* watchdog.add(group)
  const gauge = UnsolicitedLimit.make(yield* Clock.currentTimeMillis)
  const stderr = makeStderr(server.env)
  // Killed by a signal is a failure of `exitCode`, not a code.
  const exit = handle.exitCode.pipe(
    Effect.map((code) => `ended with exit code ${code}`),
    Effect.orElseSucceed(() => "was killed by a signal"),
    Effect.timeoutOrElse({
      duration: exitWait,
      orElse: () => Effect.succeed("closed its output, and its process still runs"),
    }),
  )
  // A person wants to know why a server does not start; what it logs while it works is not for the model.
  let called = false
  const stderrEnded = yield* Deferred.make<void>()
  const lastWords = Effect.map(Effect.timeoutOption(Deferred.await(stderrEnded), exitWait), () =>
    stderr.text(),
  )
  const lines = yield* LineTransport.make({
    incoming: handle.stdout,
    outgoing: handle.stdin,
    ...(watched ? { first: Stream.make(StartGate.releaseLine) } : {}),
    answering,
    gauge,
    describe: (ending) => {
      const how = ending._tag === "Closed" ? exit : Effect.succeed(`was stopped: ${ending.why}`)
      return Effect.map(
        Effect.zip(how, called || ending._tag === "Stopped" ? Effect.succeed("") : lastWords),
        ([what, said]) => {
          if (watched && StartGate.isGateError(said))
            return cannotRun(server.command, reasonOf(said))
          const output = said === "" ? "" : `; its error output ends with: ${said}`
          return `the tool server \`${name}\` ${what}${output}`
        },
      )
    },
  })

  const readStderr = handle.stderr.pipe(
    Stream.runForEach((chunk) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        stderr.push(chunk)
        return gauge.spend(chunk.length + UnsolicitedLimit.bytesPerMessage, now)
          ? Effect.void
          : lines.end({
              _tag: "Stopped",
              why: `it sent ${UnsolicitedLimit.limit}, the last of it to its error output`,
            })
      }),
    ),
    // The error output tells nothing that the end of the process does not.
    Effect.ignore,
    Effect.ensuring(Deferred.succeed(stderrEnded, undefined)),
  )
  yield* Effect.forkScoped(readStderr)

  // A dead server ends its output; a living one that closed it can answer no more either.
  yield* handle.exitCode.pipe(
    Effect.exit,
    Effect.andThen(Effect.sleep(exitWait)),
    Effect.andThen(lines.end({ _tag: "Closed" })),
    Effect.forkScoped,
  )
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      lines.endInput,
      Effect.timeoutOption(Effect.exit(handle.exitCode), Duration.millis(200)),
    ),
  )

  return {
    ...lines,
    transport: {
      ...lines.transport,
      request: (message, tool) =>
        Effect.suspend(() => {
          called ||= message.method === ToolsCall._tag
          return lines.transport.request(message, tool)
        }),
    },
  }
})
