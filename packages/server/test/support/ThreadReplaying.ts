/** Replays the clients of a recording of app-server v2, over all its processes and connections, and compares what they are sent with the original's messages. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { ConfigTree } from "@colloquy/config/ConfigTree"
import * as Resolve from "@colloquy/config/Resolve"
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { otherDialectOf } from "@colloquy/protocol/Dialects"
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
import type { Harness } from "./Harness.ts"
import * as PathStore from "./PathStore.ts"
import type { Entry } from "./Recording.ts"
import { hostOf, machineOf } from "./ThreadHost.ts"
import { at, type Named, namesOf, replaced, type Sent, translation } from "./ThreadNames.ts"
import { type Asked, neutralMessage, readingOf } from "./ThreadReading.ts"
import { pace, scriptOf } from "./ThreadScript.ts"
import { threadTools } from "./ThreadTools.ts"
import { read, type WireMessage } from "./Wire.ts"

/** What a replay needs besides the recording. */
export interface ThreadReplay {
  /** The replies of the provider to each process. Default: those that the recorded items show. */
  readonly script?: ReadonlyArray<ProviderScript>
  /** Default: they do what the recorded items show. */
  readonly tools?: ToolRuntime["Service"]
  /**
   * What `config.toml` has besides the model, and `provider` the section of its provider. Default: the policies of the
   * first recorded thread.
   */
  readonly config?: ConfigTree & { readonly provider?: ConfigTree }
  readonly app?: Partial<AppOptions>
  /** What `…` stands for in requests, by their ids. */
  readonly said?: Readonly<Record<string, string>>
  /** The messages of frames that the recording only names: connection and message, by the name. */
  readonly frames?: Readonly<Record<string, readonly [conn: string, message: object]>>
}

const findDialect = (method: string) => Effect.sync(() => otherDialectOf(method, AppServer.name))

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

const settle = ({ quiet }: Harness) =>
  Effect.andThen(Effect.andThen(quiet, TestClock.adjust(`${pace} millis`)), quiet)

/** What a question is about: a call, or a form. */
const subjectOf = ({ method, params }: WireMessage): string =>
  JSON.stringify([
    method,
    at(params, "itemId") ?? at(params, "callId") ?? at(params, "requestedSchema") ?? null,
  ])

/** The questions of a program, by what they are about and their place among those about the same. */
const questionsOf = (messages: ReadonlyArray<WireMessage>) => {
  const counts = new Map<string, number>()
  return messages.flatMap((message) => {
    if (message.method === undefined || message.id === undefined) return []
    const about = subjectOf(message)
    const count = counts.get(about) ?? 0
    counts.set(about, count + 1)
    return [{ subject: `${about} ${count}`, id: message.id }]
  })
}

/** The answers of the recorded client on one connection: each is sent once the same question is asked. */
class AnswersOfClient {
  private readonly pending: Array<{ readonly text: string; readonly id: unknown }> = []
  private readonly recorded: ReadonlyArray<WireMessage>

  constructor(entries: ReadonlyArray<Entry>, conn: string) {
    this.recorded = entries.flatMap((entry) =>
      entry.dir === "s2c" && entry.conn === conn ? [entry.message] : [],
    )
  }

  /** Keeps an answer. False for a text that is none. */
  add(text: string): boolean {
    if (!/^\{("jsonrpc":"2\.0",)?"id":[^,]+,"(result|error)":/.test(text)) return false
    this.pending.push({ text, id: read(text).id })
    return true
  }

  /** The answers to what was asked on our connection, with our ids. */
  ready(
    ours: ReadonlyArray<WireMessage>,
    values: ReadonlyMap<string, string>,
  ): ReadonlyArray<string> {
    const asked = questionsOf(ours)
    const theirs = questionsOf(
      this.recorded.map((message) => read(replaced(JSON.stringify(message), values))),
    )
    return this.pending.splice(0).flatMap((answer) => {
      const subject = theirs.find(({ id }) => id === answer.id)?.subject
      // A second answer goes to the same question, and one to nothing keeps its id.
      const found = asked.find((one) => one.subject === subject)
      if (found !== undefined) return [JSON.stringify({ ...read(answer.text), id: found.id })]
      if (subject === undefined) return [answer.text]
      this.pending.push(answer)
      return []
    })
  }
}

/** One client of the recording. */
interface Client {
  readonly app: Harness
  readonly lines: Lines.Lines
  readonly answers: AnswersOfClient
}

/** Plays the entries of one process. `before` is what the earlier ones were sent. */
const playProcess = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Entry>,
  process: number,
  app: Harness,
  before: ReadonlyArray<SentText>,
  recorded: Named,
) {
  const conns = connsOf(entries)
  const harnesses = new Map<string, Client>()
  for (const [index, conn] of conns.entries()) {
    harnesses.set(conn, {
      app: index === 0 ? app : yield* app.another,
      lines: Lines.make(),
      answers: new AnswersOfClient(entries, conn),
    })
  }
  const sent = (): ReadonlyArray<SentText> => [
    ...before,
    ...[...harnesses].flatMap(([conn, { app: one }]) =>
      one.texts.map((text) => ({ from: fromOf(process, conn), text })),
    ),
  ]
  const values = () => translation(recorded, namesOf(readAll(sent())))
  const write = ({ app: to, lines }: Client, text: string) =>
    Effect.forEach(lines.push(new TextEncoder().encode(`${text}\n`)), to.connection.inject, {
      discard: true,
    })
  const answer = (client: Client) =>
    Effect.suspend(() =>
      Effect.forEach(
        client.answers.ready(client.app.messages, values()),
        (text) => write(client, text),
        { discard: true },
      ),
    )
  /** Time passes until the client sends something; what has been asked since is answered. */
  const settled = Effect.suspend(() =>
    Effect.andThen(settle(app), Effect.forEach(harnesses.values(), answer, { discard: true })),
  )
  /** What the driver of the recording did besides sending messages. */
  const happen = (note: string): Effect.Effect<void> => {
    const [, dropped] = /"(\w) drops without close"/.exec(note) ?? []
    const gone = dropped === undefined ? undefined : harnesses.get(dropped)
    if (gone !== undefined) return Effect.andThen(settle(app), gone.app.connection.close)
    return note.includes("SIGTERM during a turn")
      ? Effect.andThen(settle(app), app.shared.shutdown)
      : Effect.void
  }
  let last: Entry["dir"] = "note"
  for (const entry of entries) {
    if (entry.dir === "c2s" && last !== "c2s") yield* settled
    last = entry.dir
    if (entry.dir === "note") yield* happen(entry.note)
    if (entry.dir !== "c2s") continue
    const here = harnesses.get(entry.conn)
    if (here === undefined) continue
    if (here.answers.add(entry.text)) yield* answer(here)
    else yield* write(here, replaced(entry.text, values()))
  }
  // As long as the recorded client waited for what it expected.
  for (let i = 0; i < 10; i++) yield* settled
  if (conns.length > 0 && conns[0] !== "") yield* app.shared.shutdown
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

/** The configuration of the recordings, with more of it. */
const settingsOf = ({ provider = {}, ...config }: ConfigTree & { provider?: ConfigTree }) =>
  Resolve.layer({
    tree: {
      model: "mock-model",
      model_provider: "mock_provider",
      ...config,
      model_providers: {
        mock_provider: {
          name: "Mock provider",
          base_url: "http://provider.test/v1",
          wire_api: "responses",
          request_max_retries: 0,
          stream_max_retries: 0,
          ...provider,
        },
      },
    },
    builtinProviders: [],
    defaultProvider: "mock_provider",
    cwd: "/workspace",
  })

const askedOn = (entries: ReadonlyArray<Entry>, conn: string, recorded: Named): Asked =>
  new Map(
    entries.flatMap((entry) => {
      if (entry.dir !== "c2s" || entry.conn !== conn) return []
      try {
        const { id, method, params } = read(replaced(entry.text, recorded.known))
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
  recorded: Named,
  ours: ReadonlyArray<SentText>,
): ReadonlyArray<Mismatch> => {
  const mine = namesOf(readAll(ours))
  const theirs = recordedTexts(processes)
  return processes.flatMap((entries, process) =>
    connsOf(entries).flatMap((conn) => {
      const from = fromOf(process, conn)
      const of = (texts: ReadonlyArray<SentText>, names: Named) =>
        texts.flatMap((one) =>
          one.from === from ? [neutralMessage(replaced(one.text, names.known))] : [],
        )
      const reading = readingOf(askedOn(entries, conn, recorded))
      return compare(of(theirs, recorded), of(ours, mine), reading).map((mismatch) => ({
        ...mismatch,
        request: `${from}${mismatch.request}`,
      }))
    }),
  )
}

/** The entries with the texts that the recording leaves out. */
const spokenOf = (
  entries: ReadonlyArray<Entry>,
  { frames = {}, said = {} }: ThreadReplay,
): ReadonlyArray<Entry> =>
  entries.map((entry): Entry => {
    if (entry.dir === "note") {
      const [, label = ""] = /"event":"sending frame","label":"([^"]*)"/.exec(entry.note) ?? []
      const frame = frames[label]
      return frame === undefined
        ? entry
        : { dir: "c2s", conn: frame[0], text: JSON.stringify(frame[1]) }
    }
    if (entry.dir !== "c2s" || !entry.text.includes('"…"')) return entry
    const words = said[String(read(entry.text).id)]
    return words === undefined
      ? entry
      : { ...entry, text: entry.text.replaceAll('"…"', JSON.stringify(words)) }
  })

/** Every mismatch between the messages of the original and of Colloquy. */
export const found = (
  recording: ReadonlyArray<Entry>,
  replay: ThreadReplay,
): Effect.Effect<ReadonlyArray<Mismatch>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const store = Context.get(yield* Layer.build(PathStore.layer), ConversationStore)
      const { app = {}, config = configOf(recording), script, tools } = replay
      const entries = spokenOf(recording, replay)
      const processes = processesOf(entries)
      const recorded = namesOf(readAll(recordedTexts(processes)))
      let sent: ReadonlyArray<SentText> = []
      for (const [process, own] of processes.entries()) {
        sent = yield* withApp(
          {
            script: script?.[process] ?? scriptOf(own),
            settings: settingsOf(config),
            store: Layer.succeed(ConversationStore, store),
            tools: tools ?? threadTools(entries),
            initialized: false,
            endsConversations: connsOf(own)[0] === "",
            findDialect,
            version: "1.2.3",
            identity: { codexHome: "/state", platformFamily: "unix", platformOs: "linux" },
            ports: { host: hostOf(own) },
            ...app,
          },
          (harness): Effect.Effect<ReadonlyArray<SentText>, never, Scope.Scope> =>
            playProcess(own, process, harness, sent, recorded),
        ).pipe(Effect.provideContext(machineOf(own)))
      }
      return comparedAll(processes, recorded, sent)
    }),
  )
