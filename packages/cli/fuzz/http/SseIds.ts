/**
 * The edge of the ids by which a client continues a stream: `Last-Event-ID` of MCP and of the plain API, and `after`. A
 * client that continues gets exactly the events after the one that it names, those of no other stream, session or principal,
 * or a refusal (L4).
 *
 *     mcp 2-1        `Last-Event-ID: 2-1` of the first session
 *     v1 3           `Last-Event-ID: 3` of the events of a conversation
 *     after 3        its events with `?after=3`
 */
import { encode, mutateBytes, oneOf } from "@colloquy/simulation/fuzz/Bytes"
import { type Edge, type Verdict, Violation } from "@colloquy/simulation/fuzz/Edge"
import type { SeededRandom } from "@colloquy/simulation/SeededRandom"
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { countingCrypto, Ids, ownServer, services } from "../frames/Services.ts"
import * as HttpApp from "./HttpApp.ts"
import { call, initialize, request } from "./HttpCorpus.ts"
import { faultOf } from "./HttpJudge.ts"
import { isWellFormed, type RequestText } from "./RequestText.ts"

/** One event of a stream with its id. */
interface Numbered {
  readonly id: string
  readonly data: string
}

const numberedIn = (text: string): ReadonlyArray<Numbered> =>
  text.split("\n\n").flatMap((block) => {
    const lines = block.split("\n")
    const id = lines.find((line) => line.startsWith("id: "))?.slice(4)
    const data = lines.find((line) => line.startsWith("data: "))?.slice(6) ?? ""
    return id === undefined ? [] : [{ id, data }]
  })

const eventStream: readonly [string, string] = ["accept", "text/event-stream"]

const broken = (message: string) => new Violation({ law: "L4", message })

const ofBob = (one: RequestText): RequestText => ({
  ...one,
  headers: one.headers.map(([name, value]) =>
    name === "authorization" ? [name, "Bearer secret-of-bob"] : [name, value],
  ),
})

/** Fails where a stream is prepared that every later input relies on. */
const required = Effect.fnUntraced(function* (app: HttpApp.HttpApp, one: RequestText) {
  const received = yield* app.request(one)
  if (received === undefined || received.status >= 300) {
    return yield* broken(`${one.method} ${one.target} is not served: ${received?.text ?? ""}`)
  }
  return received
})

/** Opens a session and makes two calls in it, whose streams are kept; the headers of its requests and the events. */
const sessionWith = Effect.fnUntraced(function* (
  app: HttpApp.HttpApp,
  prompts: ReadonlyArray<string>,
  as: (one: RequestText) => RequestText = (one) => one,
) {
  const version = "2025-11-25"
  const opened = yield* required(app, as(initialize(version)))
  const headers = [
    ["mcp-session-id", opened.headers["mcp-session-id"] ?? ""],
    ["mcp-protocol-version", version],
  ] as const
  const streams: Array<ReadonlyArray<Numbered>> = []
  for (const [at, prompt] of prompts.entries()) {
    const { text } = yield* required(app, as(call("codex", { prompt }, headers, at + 2)))
    streams.push(numberedIn(text))
  }
  return { headers, streams }
})

interface Prepared {
  readonly app: HttpApp.HttpApp
  readonly headers: ReadonlyArray<readonly [string, string]>
  /** The events of each stream of the session, in order: of the session itself, and of its calls. */
  readonly streams: ReadonlyArray<ReadonlyArray<Numbered>>
  /** The durable events of the conversation, in order. */
  readonly recorded: ReadonlyArray<Numbered>
}

const conversation = Ids.nth(1)
const eventsPath = `/v1/conversations/${conversation}/events`

const prepare = Effect.gen(function* () {
  const app = yield* HttpApp.make
  yield* required(app, request("POST", "/v1/conversations", [], {}))
  const turns = `/v1/conversations/${conversation}/turns?wait=true`
  yield* required(app, request("POST", turns, [], { input: "hello" }))
  const { text } = yield* required(app, request("GET", eventsPath))
  const { headers, streams } = yield* sessionWith(app, ["one", "two"])
  yield* sessionWith(app, ["of another session"])
  yield* sessionWith(app, ["of another principal"], ofBob)
  // What belongs to no request, such as a change of the list of conversations.
  const own = yield* required(app, request("GET", "/mcp", [eventStream, ...headers]))
  const prepared: Prepared = {
    app,
    headers,
    streams: [numberedIn(own.text), ...streams],
    recorded: numberedIn(text),
  }
  return prepared
})

const same = (a: ReadonlyArray<Numbered>, b: ReadonlyArray<Numbered>) =>
  JSON.stringify(a) === JSON.stringify(b)

/** Whether the events are the end of the stream, after the event with the id if it has one of that text. */
const continues = (
  stream: ReadonlyArray<Numbered>,
  id: string,
  found: ReadonlyArray<Numbered>,
): boolean => {
  const at = stream.findIndex((one) => one.id === id)
  return at === -1
    ? same(stream.slice(stream.length - found.length), found)
    : same(stream.slice(at + 1), found)
}

const judge = (
  streams: ReadonlyArray<ReadonlyArray<Numbered>>,
  id: string,
  { status, text }: HttpApp.Received,
): Violation | undefined => {
  const owner = streams.find((stream) => stream.some((one) => one.id === id))
  if (status >= 300) {
    return owner === undefined ? undefined : broken(`refuses to continue after an event it sent`)
  }
  // An event without data only names where the stream begins, and may come again.
  const found = numberedIn(text).filter(({ data }) => data !== "")
  const candidates = owner === undefined ? streams : [owner]
  return candidates.some((stream) => continues(stream, id, found))
    ? undefined
    : broken("continues a stream with a gap, a repeat or the events of another one")
}

const requestFor = (kind: string, id: string, { headers }: Prepared): RequestText | undefined => {
  switch (kind) {
    case "mcp":
      return request("GET", "/mcp", [eventStream, ...headers, ["last-event-id", id]])
    case "v1":
      return request("GET", eventsPath, [["last-event-id", id]])
    case "after":
      return request("GET", `${eventsPath}?after=${id}`)
    default:
      return undefined
  }
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

const run = Effect.fnUntraced(function* (prepared: Prepared, input: Uint8Array) {
  const text = utf8.decode(input)
  const space = text.indexOf(" ")
  const [kind, id] = space === -1 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)]
  const one = requestFor(kind, id, prepared)
  if (one === undefined || !isWellFormed(one)) return "rejected"
  const received = yield* prepared.app.request(one)
  if (received === undefined) return yield* broken("a stream does not begin")
  const streams = kind === "mcp" ? prepared.streams : [prepared.recorded]
  const fault = faultOf(one, received) ?? judge(streams, id, received)
  if (fault !== undefined) return yield* fault
  const verdict: Verdict = received.status < 300 ? "accepted" : "rejected"
  return verdict
})

const open = Effect.gen(function* () {
  const { crypto } = countingCrypto(yield* WebCrypto)
  const built = yield* Layer.build(Layer.provideMerge(ownServer, services(new Ids())))
  const context = Context.add(built, WebCrypto, crypto)
  const prepared = yield* Effect.provideContext(prepare, context)
  return {
    sizes: () => ({ requests: prepared.app.served() }),
    run: (input: Uint8Array) => Effect.provideContext(run(prepared, input), context),
  }
})

const kinds = ["mcp", "v1", "after"]

const corpus = kinds.flatMap((kind) =>
  ["0-0", "2-0", "2-1", "2-3", "3-2", "3-1", "1-1", "4-1", "0", "1", "3", "7", "-1", ""].map((id) =>
    encode(`${kind} ${id}`),
  ),
)

/** Texts that are numbers for some readers and none for others. */
const numbers = [
  "00",
  "+1",
  "1.0",
  "1e0",
  "0x1",
  "９",
  "9".repeat(16),
  "9".repeat(400),
  "-0",
  "NaN",
]

const mutate = (input: Uint8Array, draws: SeededRandom): Uint8Array => {
  const [kind = "", id = ""] = utf8.decode(input).split(" ")
  const roll = draws.below(100)
  if (roll < 15) return encode(`${oneOf(draws, kinds)} ${id}`)
  if (roll < 40) return encode(`${kind} ${draws.below(9)}-${draws.below(12)}`)
  if (roll < 55) return encode(`${kind} ${draws.below(12) - 1}`)
  if (roll < 75) {
    const parts = id.split("-")
    return encode(
      `${kind} ${parts.with(draws.below(parts.length), oneOf(draws, numbers)).join("-")}`,
    )
  }
  const changed = mutateBytes(encode(id), draws, encode(oneOf(draws, numbers)))
  return encode(`${kind} ${utf8.decode(changed)}`)
}

/** Ids by which a client continues a stream. */
export const sseIds: Edge = {
  name: "sse-ids",
  summary: "ids by which a client continues a stream: `Last-Event-ID` and `after`",
  corpus,
  mutate,
  inputsPerTarget: 200,
  maxInputBytes: 1024,
  open,
}
