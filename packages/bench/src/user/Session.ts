/**
 * A client of any MCP server with the tools `codex` and `codex-reply`, over the standard streams of its command. It
 * allows whatever the server asks for, counts events without decoding them, and ends the process with its scope (L8).
 */
import { Initialize, CodexEvent, Initialized, ToolsList } from "@colloquy/protocol/mcp/CodexMcp"
import { notificationText, requestText } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import * as Wire from "../Wire.ts"
import { type Usage, usageOf } from "../process/ProcessTree.ts"

/** A command line to start, without a shell. */
export interface Command {
  readonly argv: readonly [program: string, ...args: ReadonlyArray<string>]
  readonly env: Readonly<Record<string, string>>
  /** Working directory of the process. */
  readonly cwd: string
}

/** One request with its response. */
export interface Exchange {
  readonly ms: number
  /** Until the first event arrived; `NaN` when none did. */
  readonly firstEventMs: number
  /** The events that arrived while this was the only open request, undecoded. */
  readonly events: ReadonlyArray<Buffer>
  readonly result: Result
}

/** Members that the figures need of a response. */
interface Result {
  readonly isError?: boolean
  readonly content?: ReadonlyArray<{ readonly text?: string }>
  readonly serverInfo?: { readonly version?: string }
  readonly tools?: ReadonlyArray<{
    readonly name: string
    readonly inputSchema: { readonly properties: object }
  }>
}

/** A started server. */
export interface Session {
  /** From `spawn` to the response to `initialize`. */
  readonly startMs: number
  readonly version: string
  /** Creates a conversation and runs its first turn. */
  readonly codex: (prompt: string) => Effect.Effect<Exchange>
  /** Runs one more turn. */
  readonly reply: (conversation: string, prompt: string) => Effect.Effect<Exchange>
  readonly usage: () => Usage
}

interface Open {
  readonly startedAtMs: number
  firstEventMs: number
  readonly events: Array<Buffer>
  readonly resume: (exchange: Effect.Effect<Exchange>) => void
}

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly result?: Result
}

const lineFeed = 0x0a
const maxLeaveMs = 2000

/** Longer than any measured request takes. */
const maxAnswer = "30 seconds"

/** The defect of a request that a server has not answered in time. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer"
}

/** Names of the argument that says which conversation `codex-reply` continues, newest first. */
const idNames = ["threadId", "conversationId", "sessionId"]

type Child = ChildProcessByStdio<Writable, Readable, null>

const leave = (child: Child) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      return resume(Effect.void)
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), maxLeaveMs)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    child.stdin.end()
  })

/** Passes each line to `onLine`, without its end. */
const eachLine = (onLine: (line: Buffer) => void) => {
  let open: ReadonlyArray<Buffer> = []
  return (chunk: Buffer): void => {
    let from = 0
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      onLine(Buffer.concat([...open, chunk.subarray(from, at)]))
      open = []
      from = at + 1
    }
    if (from < chunk.length) open = [...open, chunk.subarray(from)]
  }
}

const isEvent = (line: Buffer): boolean =>
  line.subarray(0, 80).includes(`"method":"${CodexEvent._tag}"`)

/** Completes a request with its response. */
const close = ({ events, firstEventMs, resume, startedAtMs }: Open, line: Buffer, of: Message) =>
  resume(
    of.result === undefined || of.result.isError === true
      ? Effect.die(new Error(`the request failed: ${line.toString("utf8", 0, 500)}`))
      : Effect.succeed({
          ms: performance.now() - startedAtMs,
          firstEventMs,
          events,
          result: of.result,
        }),
  )

/** Pairs responses with open requests. `answer` sends a response to a request of the server. */
const makeLedger = (answer: (text: string) => void) => {
  const open = new Map<number | string, Open>()
  const onEvent = (line: Buffer) => {
    const [only] = open.size === 1 ? open.values() : []
    if (only === undefined) return
    if (only.events.push(line) === 1) only.firstEventMs = performance.now() - only.startedAtMs
  }
  const onMessage = (line: Buffer) => {
    const message = JSON.parse(line.toString("utf8")) as Message
    const { id, method } = message
    if (id === undefined) return
    if (method !== undefined) {
      return answer(JSON.stringify({ jsonrpc: "2.0", id, result: { decision: "approved" } }))
    }
    const found = open.get(id)
    open.delete(id)
    if (found !== undefined) close(found, line, message)
  }
  return {
    open,
    onLine: (line: Buffer) => {
      if (isEvent(line)) onEvent(line)
      else if (line.length > 0) onMessage(line)
    },
    fail: (error: Error) => {
      for (const { resume } of open.values()) resume(Effect.die(error))
      open.clear()
    },
  }
}

const launch = ({ argv: [program, ...args], cwd, env }: Command) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(program, args, {
        cwd,
        env: { ...process.env, ...env },
        stdio: ["pipe", "pipe", "ignore"],
      }),
    ),
    leave,
  )

/** Starts the process and returns what sends a request to it. */
const connect = Effect.fnUntraced(function* (command: Command) {
  const child = yield* launch(command)
  const write = (text: string) => void child.stdin.write(`${text}\n`)
  const { fail, onLine, open } = makeLedger(write)
  const name = `\`${command.argv.join(" ")}\``
  let isOver = false
  const endedError = new Error(`${name} ended before it answered`)
  const ended = () => {
    isOver = true
    fail(endedError)
  }
  // Writing to a process that has ended: the requests that wait for its responses report that.
  child.stdin.on("error", () => {})
  child.stdout.on("data", eachLine(onLine))
  child.once("close", ended)
  child.once("error", ended)
  const call = (id: number, text: string): Effect.Effect<Exchange> =>
    Effect.callback<Exchange>((resume) => {
      // The process may have ended before this request.
      if (isOver) return resume(Effect.die(endedError))
      open.set(id, { startedAtMs: performance.now(), firstEventMs: Number.NaN, events: [], resume })
      write(text)
      return Effect.sync(() => {
        open.delete(id)
      })
    }).pipe(
      Effect.timeoutOrElse({
        duration: maxAnswer,
        orElse: () =>
          Effect.die(new NoAnswer(`${name} did not answer request ${id} in ${maxAnswer}`)),
      }),
    )
  const notify = (text: string) => Effect.sync(() => write(text))
  return { call, notify, pid: child.pid ?? 0 }
})

const initialize = requestText(0, Initialize._tag, {
  protocolVersion: "2025-06-18",
  capabilities: { elicitation: {} },
  clientInfo: { name: "colloquy-bench", title: "Bench", version: "0.0.0" },
})

/** A failed answer that looks like a success would be measured as a fast one. */
const check = (exchange: Exchange): Exchange => {
  const text = exchange.result.content?.[0]?.text
  if (text !== "done" && text?.startsWith("word word") !== true) {
    throw new Error(`not the provider's answer: ${text?.slice(0, 300)}`)
  }
  return exchange
}

/** Starts the server and initializes the connection. */
export const make = (command: Command): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.gen(function* () {
    const startedAtMs = performance.now()
    const { call, notify, pid } = yield* connect(command)
    const opened = yield* call(0, initialize)
    const startMs = performance.now() - startedAtMs
    yield* notify(notificationText(Initialized._tag, undefined))
    const { result } = yield* call(1, requestText(1, ToolsList._tag, {}))
    const reply = result.tools?.find(({ name }) => name === "codex-reply")
    const idName = idNames.find((name) => name in (reply?.inputSchema.properties ?? {})) ?? ""
    let id = 1
    const tool = (name: string, args: object) =>
      Effect.suspend(() => Effect.map(call(++id, Wire.toolCall(id, name, args)), check))
    return {
      startMs,
      version: opened.result.serverInfo?.version ?? "unknown",
      codex: (prompt) => tool("codex", { prompt }),
      reply: (conversation, prompt) => tool("codex-reply", { [idName]: conversation, prompt }),
      usage: () => usageOf(pid),
    }
  })

interface EventLine {
  readonly params: {
    readonly msg: { readonly type: string; readonly session_id?: string; readonly delta?: string }
  }
}

/** The messages of the events of an exchange. */
export const messages = (exchange: Exchange): ReadonlyArray<EventLine["params"]["msg"]> =>
  exchange.events.map((line) => (JSON.parse(line.toString("utf8")) as EventLine).params.msg)

/** Id of the conversation that an exchange created. */
export const conversationOf = (exchange: Exchange): string => {
  const id = messages(exchange).find(({ type }) => type === "session_configured")?.session_id
  if (id === undefined) throw new Error("no event said which conversation was created")
  return id
}
