/** Starts the built server as a separate process and exchanges raw lines with it, as a third-party client does. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { entry } from "./BuiltProgram.ts"

/** A message of the server, typed loosely: each test compares only the members it needs. */
export interface Frame {
  readonly jsonrpc: "2.0"
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: {
    readonly _meta?: { readonly requestId?: string | number; readonly threadId?: string }
    readonly id?: string
    readonly msg?: { readonly type: string; readonly [key: string]: unknown }
  }
  readonly result?: ToolResult & { readonly [key: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string }
}

export interface ToolResult {
  readonly content: ReadonlyArray<{ readonly type: string; readonly text: string }>
  readonly structuredContent?: { readonly threadId: string; readonly content: string }
  readonly isError?: boolean
}

interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

export interface Server {
  readonly child: ChildProcessWithoutNullStreams
  /** All messages received so far, in order. */
  readonly frames: ReadonlyArray<Frame>
  readonly stderr: () => string
  /** Writes bytes or text unchanged. */
  readonly write: (raw: string | Uint8Array) => void
  readonly send: (message: object) => void
  /** Sends a tool call and returns without waiting for the response. */
  readonly call: (id: string | number, tool: string, args: unknown) => void
  /** Resolves with the first message, received already or later, that `fits` accepts. */
  readonly until: (fits: (frame: Frame) => boolean) => Effect.Effect<Frame>
  readonly answer: (id: string | number | null) => Effect.Effect<Frame>
  /** Resolves with the first event of this type; with `requestId`, only events of that call count. */
  readonly event: (type: string, requestId?: string | number) => Effect.Effect<Frame>
  /** The types of the events that a call has received so far, in order. */
  readonly eventTypes: (requestId: string | number) => ReadonlyArray<string>
  readonly exit: Effect.Effect<Exit>
  readonly pid: number
}

const isMessage = (value: unknown): value is Frame =>
  typeof value === "object" &&
  value !== null &&
  "jsonrpc" in value &&
  value.jsonrpc === "2.0" &&
  (("method" in value && !("result" in value) && !("error" in value)) ||
    (!("method" in value) && "id" in value && "result" in value !== "error" in value))

const parseLine = (line: string): Frame => {
  const value: unknown = JSON.parse(line)
  if (!isMessage(value)) throw new Error(`stdout carried what is no message: ${line.slice(0, 200)}`)
  return value
}

const connect = (child: ChildProcessWithoutNullStreams, mayBreakOff: boolean): Server => {
  const frames: Array<Frame> = []
  const watchers = new Set<() => void>()
  let fault: unknown
  let rest: Array<string> = []
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = text.split("\n")
    const [first = ""] = lines
    const last = lines.pop() ?? ""
    if (lines.length > 0) {
      lines[0] = rest.join("") + first
      rest = []
    }
    rest.push(last)
    try {
      for (const line of lines) frames.push(parseLine(line))
    } catch (error) {
      fault ??= error
    }
    for (const watcher of watchers) watcher()
  })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  // The server may exit before all input has been written; the tests check how it exited.
  child.stdin.on("error", () => {})
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("close", (code, signal) => {
      const torn = rest.join("")
      if (fault === undefined && torn !== "" && !mayBreakOff)
        fault = new Error(`a torn line on stdout: ${torn}`)
      for (const watcher of watchers) watcher()
      if (fault === undefined) resolve({ code, signal })
      else reject(fault)
    })
  })
  // A test that awaits the exit sees the failure; otherwise it must not become an unhandled rejection.
  exited.catch(() => {})
  const send = (message: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  }
  const until: Server["until"] = (fits) =>
    Effect.callback((resume) => {
      let seen = 0
      const watcher = () => {
        const found = frames.slice(seen).find(fits)
        seen = frames.length
        const gone = child.exitCode !== null || child.signalCode !== null
        if (found !== undefined) resume(Effect.succeed(found))
        else if (fault !== undefined) resume(Effect.die(fault))
        else if (gone && child.stdout.readableEnded) {
          resume(Effect.die(new Error(`the server has left: ${stderr.slice(-500)}`)))
        } else return
        watchers.delete(watcher)
      }
      watchers.add(watcher)
      watcher()
      return Effect.sync(() => watchers.delete(watcher))
    })
  const isEvent = (frame: Frame, requestId: string | number | undefined) =>
    frame.method === "codex/event" &&
    (requestId === undefined || frame.params?._meta?.requestId === requestId)
  return {
    child,
    frames,
    stderr: () => stderr,
    write: (raw) => {
      child.stdin.write(raw)
    },
    send,
    call: (id, tool, args) =>
      send({ id, method: "tools/call", params: { name: tool, arguments: args } }),
    until,
    answer: (id) => until((frame) => frame.method === undefined && frame.id === id),
    event: (type, requestId) =>
      until((frame) => isEvent(frame, requestId) && frame.params?.msg?.type === type),
    eventTypes: (requestId) =>
      frames
        .filter((frame) => isEvent(frame, requestId))
        .map((frame) => frame.params?.msg?.type ?? ""),
    exit: Effect.promise(() => exited),
    pid: child.pid ?? 0,
  }
}

export interface ServerOptions {
  readonly home: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Working directory of the server. Default: the directory of temporary files. */
  readonly cwd?: string
  /** True for a server that is killed while it writes: its last line may be incomplete. */
  readonly mayBreakOff?: boolean
  /** If true, the server finds no bubblewrap. The test itself needs bubblewrap to hide the program. */
  readonly withoutSandbox?: boolean
}

const withoutBubblewrap = [
  "bwrap",
  "--dev-bind",
  "/",
  "/",
  "--ro-bind",
  "/dev/null",
  "/usr/bin/bwrap",
]

/** Environment of a server. It inherits nothing from the tests, because an API key there would select another model. */
export const environment = (options: ServerOptions): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      PATH: process.env["PATH"],
      HOME: tmpdir(),
      COLLOQUY_HOME: options.home,
      ...options.env,
    }).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )

/**
 * Starts a server. When the scope closes, a process that still runs is killed, and its output must consist of frames
 * only (L9).
 */
export const start = (options: ServerOptions): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const own = [process.execPath, entry, "mcp"]
      const words = options.withoutSandbox === true ? [...withoutBubblewrap, ...own] : own
      const [program = "", ...args] = words
      return connect(
        spawn(program, args, {
          env: environment(options),
          cwd: options.cwd ?? tmpdir(),
          stdio: ["pipe", "pipe", "pipe"],
        }),
        options.mayBreakOff === true,
      )
    }),
    (server) => {
      server.child.kill("SIGKILL")
      return server.exit
    },
  )

export const initialize = {
  id: "initialize",
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "live-test", version: "1" },
  },
}

/** A server that has been initialized. */
export const ready = (options: ServerOptions): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.tap(start(options), (server) => {
    server.send(initialize)
    return server.answer("initialize")
  })

/** The first text in the result of a call, if any. */
export const textOf = (frame: Frame): string | undefined => frame.result?.content[0]?.text
