/** The steps of a client of app-server v2 as texts. Pure. */
import { Initialize } from "@colloquy/protocol/app/Session"
import type { Method } from "@colloquy/protocol/Method"
import {
  ThreadArchive,
  ThreadCompactStart,
  ThreadNameSet,
  ThreadQueueAdd,
  ThreadQueueDelete,
  ThreadQueueList,
  ThreadQueueReorder,
  ThreadQueueStart,
  ThreadQueueUpdate,
  ThreadRevert,
  ThreadUnarchive,
  ThreadUnsubscribe,
} from "@colloquy/protocol/thread/ThreadChanges"
import {
  ThreadFork,
  ThreadList,
  ThreadRead,
  ThreadResume,
  ThreadStart,
} from "@colloquy/protocol/thread/Threads"
import { TurnInterrupt, TurnStart, TurnSteer } from "@colloquy/protocol/thread/Turns"
import type { Answers, OfThread, ThreadGarbage, ThreadStep, WithText } from "./ThreadPlan.ts"

/** What a step is about. */
export interface Subject {
  readonly threadId: string
  /** The latest turn of the thread that the client knows. */
  readonly turnId: string
  /** Ids of the queued input of the thread that the client knows. */
  readonly queued: ReadonlyArray<string>
}

/** The id of a thread that does not exist. */
export const unknownThread = "00000000-0000-7000-8000-00000000ffff"

const request = (id: number, method: string, params?: unknown) =>
  JSON.stringify({ id, method, ...(params === undefined ? {} : { params }) })

/** The first request of every client. */
export const hello = request(0, Initialize._tag, {
  clientInfo: { name: "simulated", version: "0" },
  capabilities: { experimentalApi: true },
})

const words = (text: string) => [{ type: "text", text }]

const methods: Readonly<Record<OfThread, Pick<Method, "_tag">>> = {
  resume: ThreadResume,
  read: ThreadRead,
  fork: ThreadFork,
  forkInMemory: ThreadFork,
  forkByPath: ThreadFork,
  compact: ThreadCompactStart,
  archive: ThreadArchive,
  unarchive: ThreadUnarchive,
  unsubscribe: ThreadUnsubscribe,
  interrupt: TurnInterrupt,
  revert: ThreadRevert,
  queueList: ThreadQueueList,
  queueDelete: ThreadQueueDelete,
  queueReorder: ThreadQueueReorder,
  queueStart: ThreadQueueStart,
}

const textMethods: Readonly<Record<WithText, Pick<Method, "_tag">>> = {
  turn: TurnStart,
  steer: TurnSteer,
  name: ThreadNameSet,
  queueAdd: ThreadQueueAdd,
  queueUpdate: ThreadQueueUpdate,
}

/** The members of a request about a thread; each method reads those that it knows. */
const about = ({ queued, threadId, turnId }: Subject) => ({
  threadId,
  turnId,
  expectedTurnId: turnId,
  beforeTurnId: turnId,
  queuedSubmissionId: queued.at(-1) ?? "none",
  queuedSubmissionIds: queued.toReversed(),
  includeTurns: true,
})

const fork = (id: number, how: OfThread, { threadId }: Subject): string =>
  request(id, ThreadFork._tag, {
    threadId,
    ...(how === "forkInMemory" ? { ephemeral: true } : {}),
    // No conversation of the run has a file.
    ...(how === "forkByPath" ? { path: "/none.jsonl" } : {}),
  })

const garbage = (id: number, what: ThreadGarbage, { threadId }: Subject): string => {
  switch (what) {
    case "noise":
      return '{"id":'
    case "no method":
      return request(id, "no/such")
    case "no params":
      return request(id, TurnStart._tag)
    case "no thread":
      return request(id, ThreadRead._tag, { threadId: "none" })
    case "empty input":
      return request(id, TurnStart._tag, { threadId, input: [] })
    case "answer to nothing":
      return JSON.stringify({ id: 10_000 + id, result: {} })
  }
}

/** A thread that begins with a message that the client has kept. */
const kept = (text: string) => ({
  threadId: unknownThread,
  history: [{ type: "message", role: "user", content: [{ type: "input_text", text }] }],
})

/** The text that a step sends. */
export const textOf = (
  step: Exclude<ThreadStep, { readonly do: "pause" | "yield" }>,
  subject: Subject,
): string => {
  switch (step.do) {
    case "start":
      return request(step.id, ThreadStart._tag, { ephemeral: step.ephemeral })
    case "import":
      return request(step.id, ThreadResume._tag, kept(step.text))
    case "turn":
    case "steer":
    case "name":
    case "queueAdd":
    case "queueUpdate":
      return request(step.id, textMethods[step.do]._tag, {
        ...about(subject),
        name: step.text,
        input: words(step.text),
      })
    case "recall":
      return request(step.id, methods[step.what]._tag, {
        threadId: step.threadId,
        includeTurns: true,
      })
    case "fork":
    case "forkInMemory":
    case "forkByPath":
      return fork(step.id, step.do, subject)
    case "list":
      return request(step.id, ThreadList._tag, {})
    case "garbage":
      return garbage(step.id, step.what, subject)
    default:
      return request(step.id, methods[step.do]._tag, about(subject))
  }
}

/** The answer to a question of the server. */
export const answerText = (id: unknown, how: Exclude<Answers, "never">): string =>
  how === "error"
    ? JSON.stringify({ id, error: { code: -32601, message: "not now" } })
    : JSON.stringify({ id, result: { decision: how } })
