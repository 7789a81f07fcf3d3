/** Replays the clients of a recording of app-server v2, over all its processes and connections, and compares what they are sent with the original's messages. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { ConfigTree } from "@colloquy/config/ConfigTree"
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { ProviderScript } from "@colloquy/testing/ProviderScript"
import * as Lines from "@colloquy/transport-stdio/Lines"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { type AppOptions, withApp } from "./AppHarness.ts"
import { compare, type Mismatch } from "./Compare.ts"
import { type Harness, settingsWith } from "./Harness.ts"
import * as PathStore from "./PathStore.ts"
import type { Entry } from "./Recording.ts"
import { at, namesOf, replaced, type Sent, translation } from "./ThreadNames.ts"
import { type Asked, neutralMessage, readingOf } from "./ThreadReading.ts"
import { scriptOf } from "./ThreadScript.ts"
import { threadTools } from "./ThreadTools.ts"
import { read } from "./Wire.ts"

/** What a replay needs besides the recording. */
export interface ThreadReplay {
  /** The replies of the provider to each process. Default: those that the recorded items show. */
  readonly script?: ReadonlyArray<ProviderScript>
  /** Default: they do what the recorded items show. */
  readonly tools?: ToolRuntime["Service"]
  /** What `config.toml` has besides the model. Default: the policies of the first recorded thread. */
  readonly config?: ConfigTree
  readonly app?: Partial<AppOptions>
}

interface SentText {
  readonly from: string
  readonly text: string
}

/** The entries of each process. */
const processesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const processes: Array<Array<Entry>> = [[]]
  for (const entry of entries) {
    if (entry.dir === "note" && entry.note.includes("SECOND PROCESS")) processes.push([])
    else processes.at(-1)?.push(entry)
  }
  return processes
}

const fromOf = (process: number, conn: string): string =>
  `${process === 0 ? "" : `process ${process + 1} `}${conn === "" ? "" : `${conn} `}`

const connsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => [
  ...new Set(entries.flatMap((entry) => (entry.dir === "note" ? [] : [entry.conn]))),
]

/** What the original sent on each connection. */
const recordedTexts = (processes: ReadonlyArray<ReadonlyArray<Entry>>): ReadonlyArray<SentText> =>
  processes.flatMap((entries, process) =>
    connsOf(entries).flatMap((conn) =>
      entries.flatMap((entry) =>
        entry.dir === "s2c" && entry.conn === conn
          ? [{ from: fromOf(process, conn), text: entry.text }]
          : [],
      ),
    ),
  )

const readAll = (texts: ReadonlyArray<SentText>): ReadonlyArray<Sent> =>
  texts.map(({ from, text }) => ({ from, message: read(text) }))

/** A response to a question of the original as one to ours: the original numbers its questions from 0. */
const toOurQuestion = (text: string): string =>
  /^\{"jsonrpc":"2\.0","id":\d+,"(result|error)":/.test(text)
    ? text.replace(/\d+(?=,"(result|error)")/, (id) => String(Number(id) + 1))
    : text

const settle = ({ quiet }: Harness) =>
  Effect.andThen(Effect.andThen(quiet, TestClock.adjust("100 millis")), quiet)

/** Plays the entries of one process. `before` is what the earlier ones were sent. */
const playProcess = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Entry>,
  process: number,
  app: Harness,
  before: ReadonlyArray<SentText>,
  recorded: ReadonlyMap<string, string>,
) {
  const conns = connsOf(entries)
  const harnesses = new Map<string, { readonly app: Harness; readonly lines: Lines.Lines }>()
  for (const [index, conn] of conns.entries()) {
    harnesses.set(conn, { app: index === 0 ? app : yield* app.another, lines: Lines.make() })
  }
  const sent = (): ReadonlyArray<SentText> => [
    ...before,
    ...[...harnesses].flatMap(([conn, { app: one }]) =>
      one.texts.map((text) => ({ from: fromOf(process, conn), text })),
    ),
  ]
  let last: Entry["dir"] = "note"
  for (const entry of entries) {
    if (entry.dir === "c2s" && last !== "c2s") yield* settle(app)
    last = entry.dir
    if (entry.dir !== "c2s") continue
    const here = harnesses.get(entry.conn)
    if (here === undefined) continue
    const values = translation(recorded, namesOf(readAll(sent())))
    const text = replaced(toOurQuestion(entry.text), values)
    yield* Effect.forEach(
      here.lines.push(new TextEncoder().encode(`${text}\n`)),
      here.app.connection.inject,
    )
  }
  yield* settle(app)
  for (const { app: one } of harnesses.values()) yield* one.connection.close
  for (let i = 0; i < 20; i++) yield* settle(app)
  yield* TestClock.adjust("5 seconds")
  for (const { app: one } of harnesses.values()) yield* Fiber.join(one.server)
  return sent()
}, Effect.orDie)

const sandboxModes: Readonly<Record<string, string>> = {
  dangerFullAccess: "danger-full-access",
  readOnly: "read-only",
  workspaceWrite: "workspace-write",
}

/** The policies that the first thread of the recording got without asking for any. */
const configOf = (entries: ReadonlyArray<Entry>): ConfigTree => {
  for (const entry of entries) {
    if (entry.dir !== "s2c") continue
    const policy = at(entry.message.result, "approvalPolicy")
    const mode = sandboxModes[String(at(entry.message.result, "sandbox", "type"))]
    if (typeof policy === "string" && mode !== undefined) {
      return { approval_policy: policy, sandbox_mode: mode }
    }
  }
  return { approval_policy: "never", sandbox_mode: "danger-full-access" }
}

const askedOn = (
  entries: ReadonlyArray<Entry>,
  conn: string,
  recorded: ReadonlyMap<string, string>,
): Asked =>
  new Map(
    entries.flatMap((entry) => {
      if (entry.dir !== "c2s" || entry.conn !== conn) return []
      try {
        const { id, method, params } = read(replaced(entry.text, recorded))
        if (method === undefined || id === undefined) return []
        return [[JSON.stringify(id), { method, threadId: at(params, "threadId") }] as const]
      } catch {
        // A line that is no message gets no response.
        return []
      }
    }),
  )

const comparedAll = (
  processes: ReadonlyArray<ReadonlyArray<Entry>>,
  recorded: ReadonlyMap<string, string>,
  ours: ReadonlyArray<SentText>,
): ReadonlyArray<Mismatch> => {
  const mine = namesOf(readAll(ours))
  const theirs = recordedTexts(processes)
  return processes.flatMap((entries, process) =>
    connsOf(entries).flatMap((conn) => {
      const from = fromOf(process, conn)
      const of = (texts: ReadonlyArray<SentText>, names: ReadonlyMap<string, string>) =>
        texts.flatMap((one) =>
          one.from === from ? [neutralMessage(replaced(one.text, names))] : [],
        )
      const reading = readingOf(askedOn(entries, conn, recorded))
      return compare(of(theirs, recorded), of(ours, mine), reading).map((mismatch) => ({
        ...mismatch,
        request: `${from}${mismatch.request}`,
      }))
    }),
  )
}

/** Every mismatch between the messages of the original and of Colloquy. */
export const found = (
  entries: ReadonlyArray<Entry>,
  { app = {}, config = configOf(entries), script, tools = threadTools(entries) }: ThreadReplay,
): Effect.Effect<ReadonlyArray<Mismatch>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const store = Context.get(yield* Layer.build(PathStore.layer), ConversationStore)
      const processes = processesOf(entries)
      const recorded = namesOf(readAll(recordedTexts(processes)))
      let sent: ReadonlyArray<SentText> = []
      for (const [process, own] of processes.entries()) {
        sent = yield* withApp(
          {
            script: script?.[process] ?? scriptOf(own),
            settings: settingsWith(config, "/workspace"),
            store: Layer.succeed(ConversationStore, store),
            tools,
            initialized: false,
            endsConversations: true,
            version: "1.2.3",
            identity: { codexHome: "/state", platformFamily: "unix", platformOs: "linux" },
            ...app,
          },
          (harness): Effect.Effect<ReadonlyArray<SentText>, never, Scope.Scope> =>
            playProcess(own, process, harness, sent, recorded),
        )
      }
      return comparedAll(processes, recorded, sent)
    }),
  )
