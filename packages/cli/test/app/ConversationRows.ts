/** Rows for the methods of `app/Conversations.ts`. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { home } from "../support/Home.ts"
import { type App, start } from "./App.ts"
import {
  events,
  internal,
  invalid,
  listening,
  made,
  refuses,
  rollouts,
  row,
  type Row,
  say,
  turn,
  unknownId,
  uuid7,
} from "./Row.ts"

/** The creation time of the rollout file, as its first line states it. */
const begun = (path: string): unknown => {
  const [first = ""] = readFileSync(path, "utf8").split("\n")
  const { payload } = JSON.parse(first) as { readonly payload: { readonly timestamp: unknown } }
  return payload.timestamp
}

/** Creates a conversation, sends these texts as messages, and resolves when it is idle. */
const spoken = Effect.fnUntraced(function* (app: App, ...texts: ReadonlyArray<string>) {
  const conversation = yield* made(app)
  yield* listening(app, conversation.conversationId)
  for (const text of texts) yield* turn(app, conversation.conversationId, text)
  return conversation
})

const newConversation = row(
  "creates a file, and a conversation with the requested settings",
  {},
  (app) =>
    Effect.gen(function* () {
      const { conversationId, ...rest } = yield* app.ask("newConversation", {
        cwd: app.work,
        model: "mine",
        approvalPolicy: "on-request",
        sandbox: "read-only",
        config: { model_reasoning_effort: "low" },
      })
      assert.match(String(conversationId), uuid7)
      const [rolloutPath = ""] = rollouts(app, "sessions")
      assert.deepStrictEqual(rest, { model: "mine", reasoningEffort: "low", rolloutPath })
      assert.match(
        basename(rolloutPath),
        new RegExp(
          `^rollout-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d-${String(conversationId)}\\.jsonl$`,
        ),
      )
      yield* refuses(
        app,
        "newConversation",
        { profile: "nope" },
        invalid("error deriving config: config profile `nope` not found"),
      )
      assert.deepStrictEqual(rollouts(app, "sessions"), [rolloutPath])
    }),
)

const listConversations = row("lists the conversations with a message, newest first", {}, (app) =>
  Effect.gen(function* () {
    const first = yield* spoken(app, "say one")
    yield* made(app)
    const second = yield* spoken(app, "say two", "say three")
    const itemOf = ({ conversationId, rolloutPath }: typeof first, preview: string) => ({
      conversationId,
      path: rolloutPath,
      preview,
      timestamp: begun(rolloutPath),
    })
    const { nextCursor, ...page } = yield* app.ask("listConversations", { pageSize: 1 })
    assert.deepStrictEqual(page, { items: [itemOf(second, "say two")] })
    assert.deepStrictEqual(
      yield* app.ask("listConversations", { pageSize: 5, cursor: nextCursor }),
      { items: [itemOf(first, "say one")] },
    )
    yield* refuses(
      app,
      "listConversations",
      { pageSize: -1 },
      invalid("Invalid request: params.pageSize: Expected a value between 0 and 4294967295"),
    )
  }),
)

const resumeConversation: Row = {
  shows: "resumes the file of an earlier server with its history",
  run: Effect.gen(function* () {
    const directory = yield* home()
    const { conversationId, last, rolloutPath } = yield* Effect.scoped(
      Effect.gen(function* () {
        const before = yield* start({ home: directory })
        const conversation = yield* spoken(before, "say one")
        const [, last] = events(before).findLast(([, msg]) => isUsage(msg)) ?? []
        return { ...conversation, last }
      }),
    )
    const app = yield* start({ home: directory })
    assert.deepStrictEqual(
      yield* app.ask("resumeConversation", { path: rolloutPath, overrides: { model: "other" } }),
      {
        conversationId,
        model: "other",
        initialMessages: [
          { type: "user_message", message: "say one", kind: "plain" },
          { type: "agent_message", message: "one" },
          kept(last),
        ],
        rolloutPath,
      },
    )
    yield* refuses(
      app,
      "resumeConversation",
      { path: "/etc/passwd" },
      internal(
        `error resuming conversation: path: expected the absolute path of a rollout file in ${app.home}/sessions; got "/etc/passwd"`,
      ),
    )
    return app
  }),
}

const isUsage = (msg: unknown): msg is Readonly<Record<string, unknown>> =>
  typeof msg === "object" && msg !== null && "type" in msg && msg.type === "token_count"

/** The message as it is recorded: the notification repeats the last response's usage as flat members. */
const kept = (msg: unknown) => {
  if (!isUsage(msg)) throw new Error("no usage was reported")
  return { type: msg["type"], info: msg["info"], rate_limits: msg["rate_limits"] }
}

const archiveConversation = row("moves the file to the archive", {}, (app) =>
  Effect.gen(function* () {
    const { conversationId, rolloutPath } = yield* made(app)
    const other = yield* made(app)
    yield* refuses(
      app,
      "archiveConversation",
      { conversationId, rolloutPath: other.rolloutPath },
      invalid(
        `rollout path \`${other.rolloutPath}\` does not match conversation id ${conversationId}`,
      ),
    )
    yield* refuses(
      app,
      "archiveConversation",
      { conversationId, rolloutPath: "/etc/passwd" },
      invalid(
        `rollout path \`/etc/passwd\` must be in sessions directory: rolloutPath: expected the absolute path of a rollout file in ${app.home}/sessions; got "/etc/passwd"`,
      ),
    )
    const text = readFileSync(rolloutPath, "utf8")
    assert.deepStrictEqual(
      yield* app.ask("archiveConversation", { conversationId, rolloutPath }),
      {},
    )
    assert.deepStrictEqual(rollouts(app, "sessions"), [other.rolloutPath])
    const [archived = ""] = rollouts(app, "archived_sessions")
    assert.strictEqual(basename(archived), basename(rolloutPath))
    assert.isTrue(readFileSync(archived, "utf8").startsWith(text))
  }),
)

const forkConversation = row("creates a file with the beginning of another one", {}, (app) =>
  Effect.gen(function* () {
    const { conversationId } = yield* spoken(app, "say one", "say two")
    const fork = yield* app.ask("forkConversation", { conversationId, dropLastMessages: 1 })
    const forkId = String(fork["conversationId"])
    assert.match(forkId, uuid7)
    assert.notStrictEqual(forkId, conversationId)
    const rolloutPath = rollouts(app, "sessions").find((path) => path.includes(forkId))
    assert.deepStrictEqual(fork, { conversationId: forkId, model: "offline", rolloutPath })
    const { initialMessages } = yield* app.ask("resumeConversation", { path: rolloutPath })
    assert.deepStrictEqual(
      (initialMessages as ReadonlyArray<Readonly<Record<string, unknown>>>).flatMap(
        ({ message }) => message ?? [],
      ),
      ["say one", "one"],
    )
    yield* refuses(
      app,
      "forkConversation",
      { conversationId, dropLastMessages: 3 },
      invalid("dropLastMessages: expected at most 2, as many user messages as there are; got 3"),
    )
  }),
)

const getConversation = row(
  "returns the state while a question is pending and when idle",
  {},
  (app) =>
    Effect.gen(function* () {
      const { conversationId } = yield* made(app, { approvalPolicy: "untrusted" })
      yield* listening(app, conversationId, { after: -1 })
      const { turnId } = yield* say(app, conversationId, "run: touch made")
      yield* app.received("execCommandApproval")
      yield* say(app, conversationId, "say two", { whileRunning: "wait" })
      const settled = {
        conversationId,
        model: "offline",
        cwd: app.work,
        approvalPolicy: "untrusted",
        sandboxPolicy: { mode: "danger-full-access" },
      }
      const asking = yield* app.ask("getConversation", { conversationId })
      const { seq } = yield* app.received("codex/event/exec_approval_request")
      assert.deepStrictEqual(asking, {
        ...settled,
        status: "waitingForApproval",
        turnId,
        waitingMessages: 1,
        openQuestions: 1,
        nextSeq: Number(seq) + 1,
      })
      yield* app.ask("interruptConversation", { conversationId })
      const last = yield* turn(app, conversationId, "say three")
      const [, usage] = events(app).findLast(([, msg]) => isUsage(msg)) ?? []
      const { info } = kept(usage) as {
        readonly info: { readonly total_token_usage: { readonly total_tokens: number } }
      }
      assert.deepStrictEqual(yield* app.ask("getConversation", { conversationId }), {
        ...settled,
        status: "idle",
        waitingMessages: 0,
        openQuestions: 0,
        nextSeq: Number(last.params?.["seq"]) + 1,
        totalTokens: info.total_token_usage.total_tokens,
      })
      yield* refuses(
        app,
        "getConversation",
        { conversationId: unknownId },
        invalid(`conversation not found: ${unknownId}`),
      )
    }),
)

export const conversationRows = {
  newConversation,
  listConversations,
  resumeConversation,
  archiveConversation,
  forkConversation,
  getConversation,
} as const
