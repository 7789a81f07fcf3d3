/** The matrix of principals over MCP: every method of every revision, and every tool. */
import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import { type Revision, revisions } from "@colloquy/protocol/mcp/Revisions"
import { serverTools, type ServerToolName } from "@colloquy/protocol/mcp/ServerTools"
import { type Dialect, infoOf, methodsOf } from "@colloquy/protocol/Method"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { asking, exec, initialize } from "../support/Asking.ts"
import { type Harness, withServer } from "../support/Harness.ts"
import { saying } from "../support/Stateless.ts"
import { asked, callAsTask, decided, taskIdIn } from "../support/Tasking.ts"
import { threadOf } from "../support/Wire.ts"
import {
  type Attempts,
  type Form,
  hearsNothing,
  type Ids,
  intrude,
  names,
  type Row,
  rowsOf,
  send,
  unknownIds,
} from "./Matrix.ts"

/** The arguments of every tool; a tool that is missing here does not compile. */
const tools: Attempts<ServerToolName> = {
  codex: [() => ({ prompt: "hi" })],
  "codex-reply": [
    ({ conversation }) => ({ conversationId: conversation, prompt: "more" }),
    ({ conversation }) => ({ threadId: conversation, prompt: "more" }),
  ],
  conversationCreate: [() => ({})],
  conversationSendMessage: [
    ({ conversation }) => ({
      conversation_id: conversation,
      content: [{ type: "text", text: "more" }],
    }),
  ],
  conversationStream: [({ conversation }) => ({ conversation_id: conversation })],
  conversationsList: [() => ({})],
  conversationStatus: [({ conversation }) => ({ conversation_id: conversation })],
  conversationWait: [({ conversation }) => ({ conversation_id: conversation, timeout_ms: 0 })],
  conversationFork: [({ conversation }) => ({ conversation_id: conversation })],
  conversationInterrupt: [({ conversation }) => ({ conversation_id: conversation })],
  conversationRemove: [({ conversation }) => ({ conversation_id: conversation })],
}

const uris = [
  ({ conversation }: Ids) => ({ uri: `colloquy://conversations/${conversation}` }),
  ({ conversation }: Ids) => ({ uri: `colloquy://conversations/${conversation}/transcript.md` }),
]

type Methods = typeof CodexMcp extends Dialect<infer C, infer _> ? C : never

/** The params of every method; the test below fails for one that is missing. */
const methods: Attempts<Methods["_tag"]> = {
  initialize: [() => initialize({}).params],
  "server/discover": [() => ({})],
  ping: [() => ({})],
  "tools/list": [() => ({})],
  "tools/call": Object.entries(tools).flatMap(([name, ways]) =>
    ways.map((way) => (ids: Ids) => ({ name, arguments: way(ids) })),
  ),
  "tasks/get": [({ task }) => ({ taskId: task })],
  "tasks/result": [({ task }) => ({ taskId: task })],
  "tasks/list": [() => ({})],
  "tasks/update": [
    ({ task }) => ({
      taskId: task,
      inputResponses: {
        "1-elicitation": { action: "accept", content: { decision: "approved" } },
      },
    }),
  ],
  "tasks/cancel": [({ task }) => ({ taskId: task })],
  "resources/list": [() => ({})],
  "resources/templates/list": [() => ({})],
  "resources/read": uris,
  "resources/subscribe": uris,
  "resources/unsubscribe": uris,
  "prompts/list": [() => ({})],
  "prompts/get": [() => ({ name: "none" })],
  "completion/complete": [
    () => ({
      ref: { type: "ref/resource", uri: "colloquy://conversations/{id}" },
      argument: { name: "id", value: "" },
    }),
    ({ conversation }) => ({
      ref: { type: "ref/resource", uri: "colloquy://conversations/{id}" },
      argument: { name: "id", value: conversation.slice(0, 20) },
    }),
  ],
  "logging/setLevel": [() => ({ level: "debug" })],
  "subscriptions/listen": [
    ...uris.map((of) => (ids: Ids) => ({
      notifications: { resourcesListChanged: true, resourceSubscriptions: [of(ids).uri] },
    })),
    ({ task }) => ({ notifications: { taskIds: [task] } }),
  ],
  "notifications/initialized": [() => ({})],
  "notifications/cancelled": [({ request }) => ({ requestId: request })],
}

const known = methodsOf(CodexMcp.clientToServer)

const isStateless = (revision: Revision) => revision >= "2026"

const capabilities = {
  elicitation: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
}

const formOf = (revision: Revision): Form => ({
  isNotification: (method) => {
    const definition = known.get(method)
    return definition !== undefined && infoOf(definition).kind === "notification"
  },
  params: (method, params) =>
    isStateless(revision) ? saying(params, method === "tools/call" ? {} : capabilities) : params,
})

const hello = (client: Harness, revision: Revision) =>
  isStateless(revision)
    ? Effect.void
    : client.ask("i", "initialize", {
        ...initialize({ elicitation: {} }).params,
        protocolVersion: revision,
      })

/** True for a revision in which calls can become tasks. */
const hasTasks = (revision: Revision) => revision >= "2025-11-25"

/** Runs `body` with an owner who has a conversation with a pending question and a task, and an intruder. */
const withBoth = (
  revision: Revision,
  body: (owner: Harness, intruder: Harness, ids: Ids) => Effect.Effect<void, never, Scope.Scope>,
) =>
  withServer(
    {
      ownTools: "all",
      principal: "alice",
      script: ({ index, lastUserText }) =>
        Script.reply(
          lastUserText === "ask" ? Script.toolCall("ask", {}, `c${index}`) : Script.text("hello"),
        ),
      tools: asking([exec]).tools,
    },
    (alice) =>
      Effect.gen(function* () {
        const bob = yield* alice.as("bob")
        yield* hello(alice, revision)
        yield* hello(bob, revision)
        const call = (name: string, args: object) => ({ name, arguments: args })
        // Without the capability of tasks.
        const first = call("codex", { prompt: "hi" })
        const conversation = threadOf(
          yield* alice.ask("first", "tools/call", isStateless(revision) ? saying(first) : first),
        )
        const task = hasTasks(revision)
          ? taskIdIn(
              yield* callAsTask(
                alice,
                isStateless(revision) ? decided : asked,
                "second",
                "codex-reply",
                {
                  threadId: conversation,
                  prompt: "ask",
                },
              ),
            )
          : "no-task"
        if (!hasTasks(revision)) {
          yield* alice.send({
            jsonrpc: "2.0",
            id: "second",
            method: "tools/call",
            params: call("codex-reply", { threadId: conversation, prompt: "ask" }),
          })
        }
        yield* alice.quiet
        yield* body(alice, bob, {
          conversation,
          path: unknownIds.path,
          task,
          other: unknownIds.other,
          request: "second",
        })
      }),
  )

/** One more conversation of the owner, which asks a question. */
const third: Row = {
  method: "tools/call",
  name: "third",
  attempt: () => ({ name: "codex", arguments: { prompt: "ask" } }),
}

/** Methods whose responses say nothing about what they name. */
const saysNothing: ReadonlySet<string> = new Set([
  "resources/unsubscribe",
  "notifications/cancelled",
])

const serves = (revision: Revision, method: string): boolean => {
  const definition = known.get(method)
  if (definition === undefined) return false
  const { since, until } = infoOf(definition)
  return since <= revision && (until === undefined || revision < until)
}

describe("the matrix of principals over MCP", () => {
  it("has every method and every tool", () => {
    assert.sameMembers(Object.keys(methods), [...known.keys()])
    assert.sameMembers(
      Object.keys(tools),
      serverTools.map(({ name }) => name),
    )
  })

  it.effect.each(revisions)(
    "%s: every method treats what belongs to another principal as unknown",
    (revision) =>
      withBoth(revision, (alice, bob, ids) =>
        Effect.gen(function* () {
          yield* intrude(alice, bob, formOf(revision), rowsOf(methods), ids)
          yield* hearsNothing(
            bob,
            Effect.andThen(
              alice.manager.fork(ids.conversation, { _tag: "DropLastUserMessages", n: 0 }),
              send(alice, formOf(revision), third, ids),
            ).pipe(Effect.orDie),
          )
        }),
      ),
  )

  const naming = rowsOf(methods).filter(
    (row) =>
      names(row, { ...unknownIds, conversation: "0", task: "0" }) && !saysNothing.has(row.method),
  )

  it.effect.each(
    (["2026-07-28", "2025-11-25"] as const).flatMap((revision) =>
      naming.filter(({ method }) => serves(revision, method)).map((row) => ({ ...row, revision })),
    ),
  )("$revision: the owner gets another answer to $name", ({ revision, ...row }) =>
    withBoth(revision, (alice, _, ids) =>
      Effect.gen(function* () {
        const form = formOf(revision)
        const unknown = yield* send(alice, form, row, unknownIds)
        const own = yield* send(alice, form, row, ids)
        assert.notStrictEqual(own.text, unknown.text)
      }),
    ),
  )
})
