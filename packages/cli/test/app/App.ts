/**
 * A client of the built app-server that exchanges plain JSON over standard streams, for the rows of its methods. Every
 * message of the server is checked against the contract: the server sends nothing that no definition describes.
 */
import { AppServer } from "@colloquy/protocol/app/AppServer"
import type { Connection } from "@colloquy/protocol/Connection"
import { codecOf, type Dialect, methodsOf } from "@colloquy/protocol/Method"
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { read, type WireMessage } from "../../../server/test/support/Wire.ts"
import { entry } from "../support/BuiltProgram.ts"
import { directory as directoryOf, home, requestingOffline } from "../support/Home.ts"
import { environment } from "../support/Server.ts"

type Names<D> =
  D extends Dialect<infer C, infer S> ? { readonly c: C["_tag"]; readonly s: S["_tag"] } : never

/** Methods that a client may send. */
export type ClientMethod = Names<typeof AppServer>["c"]
type Event = `codex/event/${string}`

/** Methods that a server may send, with all events under one name. */
export type ServerMethod = Exclude<Names<typeof AppServer>["s"], Event> | "codex/event"

export type Members = Readonly<Record<string, unknown>>

export interface App {
  /** The state directory. */
  readonly home: string
  /** Process id of the server. */
  readonly pid: number
  /** Working directory of its conversations, separate because no tool may touch the state directory. */
  readonly work: string
  /** All messages received so far. */
  readonly messages: ReadonlyArray<WireMessage>
  /** What the server sent that no definition describes. */
  readonly beyond: ReadonlyArray<string>
  /** Methods of the client's requests so far, by request id. */
  readonly sent: ReadonlyMap<unknown, string>
  /** Methods of requests that had a result, and of those that had an error. */
  readonly answered: { readonly results: Set<string>; readonly errors: Set<string> }
  /** The result of a request; an error fails the test. */
  readonly ask: (method: ClientMethod, params?: unknown) => Effect.Effect<Members>
  /** The error of a request; a result fails the test. */
  readonly refused: (
    method: ClientMethod,
    params?: unknown,
  ) => Effect.Effect<{ readonly code: number; readonly message: string }>
  readonly notify: (method: ClientMethod, params?: unknown) => Effect.Effect<void>
  /** Sends the response to a server request. */
  readonly reply: (question: WireMessage, answer: Members) => Effect.Effect<void>
  /** Resolves with the first message, received already or later, that `fits` accepts. */
  readonly until: (fits: (message: WireMessage) => boolean) => Effect.Effect<WireMessage>
  /** Resolves with the params of the nth message of this method (default: the first) once it has arrived. */
  readonly received: (method: ServerMethod | Event, nth?: number) => Effect.Effect<Members>
  /** Initializes the connection with the client's name and version. */
  readonly initialize: Effect.Effect<Members>
  /** While this latch is closed, the client reads nothing. */
  readonly reading: Latch.Latch
}

export interface AppOptions {
  /** State directory of an earlier server. Default: a new directory. */
  readonly home?: string
  /** Text of `config.toml`. */
  readonly config?: string
  /** Scripted responses of the offline model; after them it answers by its rules. */
  readonly script?: ReadonlyArray<ReadonlyArray<unknown>>
  /** False if the client must not send `initialize`. */
  readonly initialized?: boolean
}

const fromClient = methodsOf(AppServer.clientToServer)
const fromServer = methodsOf(AppServer.serverToClient)

/** What a message contains beyond its definition; undefined if it conforms. */
const beyondContract = (message: WireMessage, asked: string | undefined): string | undefined => {
  if (message.error !== undefined) return undefined
  const [methods, name, value] =
    message.method === undefined
      ? [fromClient, asked, message.result]
      : [fromServer, message.method, message.params]
  const definition = methods.get(name ?? "")
  if (definition === undefined) return `nothing is known of ${JSON.stringify(message)}`
  const codec = codecOf(definition)
  const [decode, encode] =
    message.method === undefined
      ? [codec.decodeResult, codec.encodeResult]
      : [codec.decodeParams, codec.encodeParams]
  const known = Result.flatMap(decode(value), encode)
  if (Result.isFailure(known)) return `${name}: ${known.failure.message}`
  return isDeepStrictEqual(known.success, value)
    ? undefined
    : `${name}: ${JSON.stringify(value)} is defined as ${JSON.stringify(known.success)}`
}

/** Reads messages until the scope closes and notifies the tests that wait for one. */
const inbox = Effect.fnUntraced(function* (
  connection: Connection,
  sent: ReadonlyMap<unknown, string>,
) {
  const messages: Array<WireMessage> = []
  const beyond: Array<string> = []
  const waiting = new Set<() => void>()
  const reading = yield* Latch.make(true)
  let ended = false
  const look = () => {
    for (const one of waiting) one()
  }
  yield* reading.await.pipe(
    Effect.andThen(connection.receive),
    Effect.map((frames) => {
      for (const frame of frames) {
        if (frame._tag !== "Text") throw new Error(`a frame that is no text: ${frame._tag}`)
        const message = read(frame.text)
        const fault = beyondContract(message, sent.get(message.id))
        if (fault !== undefined) beyond.push(fault)
        messages.push(message)
      }
      look()
    }),
    Effect.forever,
    Effect.onExit(() =>
      Effect.sync(() => {
        ended = true
        look()
      }),
    ),
    Effect.exit,
    Effect.forkScoped({ startImmediately: true }),
  )
  const until: App["until"] = (fits) =>
    Effect.callback((resume) => {
      let seen = 0
      const watcher = () => {
        const found = messages.slice(seen).find(fits)
        seen = messages.length
        if (found !== undefined) resume(Effect.succeed(found))
        else if (ended) resume(Effect.die(new Error("the server has left")))
        else return
        waiting.delete(watcher)
      }
      waiting.add(watcher)
      watcher()
      return Effect.sync(() => waiting.delete(watcher))
    })
  return { messages, beyond, until, reading }
})

/** Starts the built server; it runs until the scope closes. */
const launched = (directory: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [entry, "app-server"], {
        cwd: directory,
        env: environment({ home: directory, env: { COLLOQUY_LOG: "error" } }),
        stdio: ["pipe", "pipe", "ignore"],
      }),
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      }),
  )

const writeConfig = (directory: string, { config = "", script }: AppOptions) => {
  const path = join(directory, "script.json")
  if (script !== undefined) writeFileSync(path, JSON.stringify(script))
  const offline = script === undefined ? "" : `\n[offline]\nscript = "${path}"\n`
  writeFileSync(join(directory, "config.toml"), requestingOffline(`${config}${offline}`))
}

/** Starts a new server and a client that has sent `initialize`, unless the options say otherwise. */
export const start = Effect.fnUntraced(function* (
  options: AppOptions = {},
): Effect.fn.Return<App, never, Scope.Scope> {
  const directory = options.home ?? (yield* home())
  if (options.home === undefined) writeConfig(directory, options)
  const work = yield* directoryOf()
  const { pid = 0, stdin, stdout } = yield* launched(directory)
  const connection = yield* StdioConnection.make({
    input: stdout,
    output: stdin,
    // Small, so that the server soon detects a client that does not read.
    maxUnreadBytes: 64 * 1024,
  })
  const sent = new Map<unknown, string>()
  const { beyond, messages, reading, until } = yield* inbox(connection, sent)
  const answered = { results: new Set<string>(), errors: new Set<string>() }
  let lastId = 0
  const send = (message: Members) => Effect.orDie(connection.send([JSON.stringify(message)]))
  const notify: App["notify"] = (method, params) =>
    send({ method, ...(params === undefined ? {} : { params }) })
  const request = Effect.fnUntraced(function* (method: ClientMethod, params: unknown) {
    const id = `request ${++lastId}`
    sent.set(id, method)
    yield* send({ id, method, ...(params === undefined ? {} : { params }) })
    return yield* until((message) => message.method === undefined && message.id === id)
  })
  const ask: App["ask"] = Effect.fnUntraced(function* (method, params) {
    const { error, result } = yield* request(method, params)
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    answered.results.add(method)
    return result
  })
  const refused: App["refused"] = Effect.fnUntraced(function* (method, params) {
    const { error, result } = yield* request(method, params)
    if (error === undefined) throw new Error(`${method}: ${JSON.stringify(result)}`)
    answered.errors.add(method)
    return { code: error.code, message: error.message }
  })
  const app: App = {
    home: directory,
    pid,
    work,
    messages,
    beyond,
    sent,
    answered,
    ask,
    refused,
    notify,
    reply: ({ id }, answer) => send({ id, ...answer }),
    until,
    received: (method, nth = 0) =>
      Effect.map(
        until(() => messages.filter((message) => message.method === method).length > nth),
        () => messages.filter((message) => message.method === method)[nth]?.params ?? {},
      ),
    initialize: ask("initialize", { clientInfo: { name: "rows", version: "1" } }),
    reading,
  }
  if (options.initialized !== false) yield* app.initialize
  return app
})
