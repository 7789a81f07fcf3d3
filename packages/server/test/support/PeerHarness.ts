/** A peer over memory with a test dialect, whose handlers do everything a handler can do. */
import type { Connection } from "@colloquy/protocol/Connection"
import { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { dialect, notification, request } from "@colloquy/protocol/Method"
import { type MemoryConnection, memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { make, type Peer } from "../../src/jsonrpc/Peer.ts"
import type { PeerHandlers, PeerOptions } from "../../src/jsonrpc/PeerOptions.ts"
import { read, type WireMessage } from "./Wire.ts"

const info = { since: "test", doc: "For tests." }
const Number = Schema.Struct({ n: Schema.Int })

const Echo = request("echo", { ...info, params: Number, result: Number })
const Fail = request("fail", info)
const Die = request("die", info)
const Throw = request("throw", info)
/** Returns a result that does not match its schema. */
const Lie = request("lie", { ...info, result: Number })
const Hang = request("hang", info)
const Sleep = request("sleep", { ...info, params: Schema.Struct({ ms: Schema.Int }) })
/** Takes 200 ms to clean up after itself. */
const Tidy = request("tidy", info)
/** Does not stop before `release`. */
const Refuse = request("refuse", info)
/** Sends a request to the peer and returns its response. */
const Relay = request("relay", { ...info, result: Schema.Struct({ answer: Schema.String }) })
const Note = notification("note", { ...info, params: Number })

const Ask = request("ask", {
  ...info,
  params: Schema.Struct({ question: Schema.String }),
  result: Schema.Struct({ answer: Schema.String }),
})
export const Report = notification("report", { ...info, params: Number })
const Withdrawn = notification("withdrawn", {
  ...info,
  params: Schema.Struct({ id: Schema.Unknown }),
})
const Unwanted = notification("unwanted", {
  ...info,
  params: Schema.Struct({ id: Schema.Union([Schema.String, Schema.Int]) }),
})

const Dialect = dialect({
  name: "test",
  clientToServer: [Echo, Fail, Die, Throw, Lie, Hang, Sleep, Tidy, Refuse, Relay, Note, Unwanted],
  serverToClient: [Ask, Report, Withdrawn],
})
type Local = typeof Dialect extends { readonly clientToServer: infer G } ? G : never
type LocalMethods = Local extends PeerOptions<infer L>["local"] ? L : never

export interface PeerHarness {
  /** The same messages as received, including arrays of messages. */
  readonly texts: ReadonlyArray<string>
  readonly client: MemoryConnection
  readonly peer: Peer
  readonly serving: Fiber.Fiber<void>
  /** Everything the peer sent so far. */
  readonly messages: ReadonlyArray<WireMessage>
  /** `n` of every notification handled, in order. */
  readonly notes: ReadonlyArray<number>
  readonly send: (...messages: ReadonlyArray<unknown>) => Effect.Effect<void>
  readonly sendTexts: (...texts: ReadonlyArray<string>) => Effect.Effect<void>
  readonly responses: (id: unknown) => ReadonlyArray<WireMessage>
  readonly quiet: Effect.Effect<void>
  /** Lets the handler of `refuse` end. */
  readonly release: Effect.Effect<void>
}

const handlersOf = (
  notes: Array<number>,
  released: Deferred.Deferred<void>,
): PeerHandlers<LocalMethods> => ({
  echo: ({ n }) => Effect.succeed({ n }),
  fail: () => Effect.fail(new JsonRpcError({ code: 7, message: "no", data: { why: "test" } })),
  die: () => Effect.die(new Error("a secret")),
  throw: () => {
    throw new Error("a secret")
  },
  lie: () => Effect.succeed({ n: 1.5 }),
  hang: () => Effect.never,
  sleep: ({ ms }) => Effect.sleep(ms),
  tidy: () => Effect.onInterrupt(Effect.never, () => Effect.sleep("200 millis")),
  refuse: () => Effect.uninterruptible(Deferred.await(released)),
  relay: (_, { peer }) =>
    Effect.catchTag(peer.request(Ask, { question: "?" }), "ConnectionClosed", ({ reason }) =>
      Effect.fail(new JsonRpcError({ code: 8, message: reason })),
    ),
  note: ({ n }) => Effect.sync(() => notes.push(n)),
  unwanted: ({ id }, { peer }) => peer.cancel(id),
})

export interface PeerHarnessOptions {
  readonly capacity?: number
  /** False: the client does not read what the peer sends. */
  readonly reading?: boolean
  /** Used instead of the `receive` of the connection. */
  readonly flush?: Effect.Effect<void>
  readonly maxInFlight?: number
  readonly maxInFlightChars?: number
  readonly shutdownGrace?: PeerOptions<LocalMethods>["shutdownGrace"]
  readonly batches?: boolean
  /** Added to the connection, which has none of its own. */
  readonly sendNow?: Connection["sendNow"]
}

const quietAfter = (count: () => number) =>
  Effect.gen(function* () {
    let before = -1
    while (before !== count()) {
      before = count()
      for (let i = 0; i < 60; i++) yield* Effect.yieldNow
    }
  })

export const serve = Effect.fnUntraced(function* (
  options: PeerHarnessOptions = {},
): Effect.fn.Return<PeerHarness, never, Scope.Scope> {
  const [client, connection] = yield* memoryPair(options.capacity ?? 64)
  const notes: Array<number> = []
  const messages: Array<WireMessage> = []
  const texts: Array<string> = []
  const released = yield* Deferred.make<void>()
  const made = yield* Deferred.make<Peer>()
  const serving = yield* Effect.gen(function* () {
    const peer = yield* make({
      connection: {
        ...connection,
        ...(options.flush === undefined ? {} : { flush: options.flush }),
        ...(options.sendNow === undefined ? {} : { sendNow: options.sendNow }),
      },
      local: Dialect.clientToServer,
      handlers: handlersOf(notes, released),
      withdraw: ({ notify }, id) => notify(Withdrawn, [{ id }]),
      batches: () => options.batches === true,
      ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
      ...(options.maxInFlightChars === undefined
        ? {}
        : { maxInFlightChars: options.maxInFlightChars }),
      ...(options.shutdownGrace === undefined ? {} : { shutdownGrace: options.shutdownGrace }),
    })
    yield* Deferred.succeed(made, peer)
    yield* peer.run
  }).pipe(Effect.scoped, Effect.forkChild({ startImmediately: true }))
  if (options.reading !== false) {
    yield* client.receive.pipe(
      Effect.map((frames) => {
        for (const frame of frames) {
          if (frame._tag !== "Text") continue
          texts.push(frame.text)
          if (!frame.text.startsWith("[")) messages.push(read(frame.text))
        }
      }),
      Effect.forever,
      // The peer ends with the end of the input.
      Effect.exit,
      Effect.forkScoped({ startImmediately: true }),
    )
  }
  const sendTexts: PeerHarness["sendTexts"] = (...texts) => Effect.orDie(client.send(texts))
  const release = Effect.asVoid(Deferred.done(released, Exit.void))
  yield* Effect.addFinalizer(() => release)
  return {
    client,
    peer: yield* Deferred.await(made),
    serving,
    messages,
    texts,
    notes,
    sendTexts,
    send: (...values) => sendTexts(...values.map((value) => JSON.stringify(value))),
    responses: (id) => messages.filter((m) => m.method === undefined && m.id === id),
    quiet: quietAfter(() => texts.length),
    release,
  }
})

export const call = (id: unknown, method: string, params?: unknown) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params === undefined ? {} : { params }),
})

export const note = (method: string, params?: unknown) => ({
  jsonrpc: "2.0",
  method,
  ...(params === undefined ? {} : { params }),
})
