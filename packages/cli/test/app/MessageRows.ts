/** Rows for the methods of `app/Messages.ts`. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  ending,
  events,
  invalid,
  listening,
  made,
  refuses,
  row,
  say,
  turn,
  unknownId,
  uuid4,
  words,
} from "./Row.ts"

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

const sendUserMessage = row("gives text and an image file to the model", {}, (app) =>
  Effect.gen(function* () {
    const { conversationId } = yield* made(app)
    yield* listening(app, conversationId, { experimentalRawEvents: true })
    const path = join(app.work, "dot.png")
    writeFileSync(path, Buffer.from(png, "base64"))
    const items = [...words("say seen"), { type: "localImage", data: { path } }]
    const sent = yield* app.ask("sendUserMessage", { conversationId, items })
    assert.deepStrictEqual(sent, { turnId: "0", disposition: "started" })
    const { params } = yield* ending(app, "0")
    assert.deepStrictEqual(params?.["msg"], {
      type: "task_complete",
      last_agent_message: "seen",
    })
    assert.deepInclude(
      events(app).map(([, msg]) => msg),
      {
        type: "raw_response_item",
        item: {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "say seen" },
            { type: "input_image", image_url: `data:image/png;base64,${png}` },
          ],
        },
      },
    )
    yield* refuses(
      app,
      "sendUserMessage",
      { conversationId, items: words("more"), whileRunning: "steer" },
      invalid("no turn is running"),
    )
  }),
)

const sendUserTurn = row("applies its settings to its turn and to later ones", {}, (app) =>
  Effect.gen(function* () {
    const { conversationId } = yield* made(app, { cwd: app.home, approvalPolicy: "untrusted" })
    yield* listening(app, conversationId, { after: -1 })
    const settings = {
      cwd: app.work,
      approvalPolicy: "never",
      sandboxPolicy: { mode: "danger-full-access" },
    }
    const params = { conversationId, ...settings, model: "other", effort: "high", summary: "none" }
    assert.deepStrictEqual(
      yield* app.ask("sendUserTurn", { ...params, items: words("run: pwd -P") }),
      { turnId: "0", disposition: "started" },
    )
    yield* ending(app, "0")
    const { params: last } = yield* turn(app, conversationId, "run: pwd -P; false")
    const real = realpathSync(app.work)
    assert.deepStrictEqual(
      events(app).flatMap(([, msg]) => {
        const { last_agent_message: said } = msg as Readonly<Record<string, unknown>>
        return said ?? []
      }),
      [
        `Offline model: the tool finished and said: ${real}`,
        `Offline model: the tool finished with exit code 1 and said: ${real}`,
      ],
    )
    const { totalTokens: _, ...state } = yield* app.ask("getConversation", { conversationId })
    assert.deepStrictEqual(state, {
      ...settings,
      conversationId,
      model: "other",
      reasoningEffort: "high",
      status: "idle",
      waitingMessages: 0,
      openQuestions: 0,
      nextSeq: Number(last?.["seq"]) + 1,
    })
    yield* refuses(
      app,
      "sendUserTurn",
      { ...params, items: words("x"), model: "" },
      invalid(
        "error deriving config: invalid value: string, expected a name that is not empty\nin `model`\n",
      ),
    )
    yield* refuses(
      app,
      "sendUserTurn",
      { ...params, items: words("x"), sandboxPolicy: { mode: "no-such-mode" } },
      invalid(
        'Invalid request: params.sandboxPolicy: Expected an object whose `mode` is "danger-full-access" | "read-only" | "workspace-write" | "external-sandbox"',
      ),
    )
  }),
)

const interruptConversation = row(
  "interrupts the turn that runs a command, and drops waiting messages",
  {},
  (app) =>
    Effect.gen(function* () {
      const { conversationId } = yield* made(app)
      yield* listening(app, conversationId)
      yield* say(app, conversationId, "run: sleep 1000")
      yield* app.received("codex/event/exec_command_begin")
      assert.deepStrictEqual(yield* say(app, conversationId, "later", { whileRunning: "wait" }), {
        turnId: "1",
        disposition: "waiting",
      })
      const before = app.messages.length
      assert.deepStrictEqual(yield* app.ask("interruptConversation", { conversationId }), {
        abortReason: "interrupted",
        turnId: "0",
      })
      assert.deepStrictEqual(
        app.messages.slice(before).map(({ method, params }) => [method, params?.["id"]]),
        [
          ["codex/event/turn_aborted", "1"],
          ["codex/event/exec_command_end", "0"],
          ["codex/event/turn_aborted", "0"],
          [undefined, undefined],
        ],
      )
      assert.deepStrictEqual(yield* app.ask("interruptConversation", { conversationId }), {
        abortReason: "interrupted",
      })
      yield* refuses(
        app,
        "interruptConversation",
        { conversationId: unknownId },
        invalid(`conversation not found: ${unknownId}`),
      )
    }),
)

const addConversationListener = row(
  "sends the missed events, then the live ones, without a gap",
  {},
  (app) =>
    Effect.gen(function* () {
      const { conversationId } = yield* made(app)
      yield* say(app, conversationId, "say one")
      const answer = yield* app.ask("addConversationListener", {
        conversationId,
        after: -1,
        experimentalRawEvents: true,
      })
      assert.deepStrictEqual(Object.keys(answer), ["subscriptionId"])
      assert.match(String(answer["subscriptionId"]), uuid4)
      yield* ending(app, "0")
      const { params } = yield* turn(app, conversationId, "say two")
      const seqs = events(app).flatMap(([seq, msg]) => (isDelta(msg) ? [] : [seq]))
      assert.deepStrictEqual(
        seqs,
        seqs.map((_, seq) => seq),
      )
      assert.strictEqual(params?.["subscriptionId"], answer["subscriptionId"])
      const last = seqs.length - 1
      yield* refuses(
        app,
        "addConversationListener",
        { conversationId, after: 1000 },
        invalid(`after: expected at most ${last}, the last event; got 1000`),
      )
    }),
)

const isDelta = (msg: unknown) =>
  String((msg as Readonly<Record<string, unknown>>)["type"]).endsWith("_delta")

const removeConversationListener = row("ends one subscription and leaves the others", {}, (app) =>
  Effect.gen(function* () {
    const { conversationId } = yield* made(app)
    const stays = yield* listening(app, conversationId)
    const subscriptionId = yield* listening(app, conversationId)
    const params = { subscriptionId }
    assert.deepStrictEqual(yield* app.ask("removeConversationListener", params), {})
    yield* turn(app, conversationId, "say one")
    assert.deepStrictEqual(
      new Set(app.messages.flatMap(({ params: told }) => told?.["subscriptionId"] ?? [])),
      new Set([stays]),
    )
    yield* refuses(
      app,
      "removeConversationListener",
      params,
      invalid(`subscription not found: ${subscriptionId}`),
    )
  }),
)

export const messageRows = {
  sendUserMessage,
  sendUserTurn,
  interruptConversation,
  addConversationListener,
  removeConversationListener,
} as const
