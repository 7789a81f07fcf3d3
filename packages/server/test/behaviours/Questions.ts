/** Questions of a turn to a person: accepted, declined, cancelled, answered with an error, and never answered. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  behaviour,
  callOf,
  codes,
  handshake,
  listIn,
  stateless,
  structured,
  textOf,
  touching,
  type World,
} from "./Behaviour.ts"
import type { Answerer, Members, Reply, Speaker } from "./Speaker.ts"

const forms = { elicitation: { form: {} } }

/** Runs a turn that requests one command, with a client that answers as given. */
const played = (world: World, answer: Answerer, capabilities: Members = forms) =>
  Effect.gen(function* () {
    const client = yield* world.speak(capabilities)
    const params = callOf("codex", touching(world))
    const { asked, reply } = yield* client.converse("tools/call", params, answer)
    return { client, asked, reply }
  })

const made = "Offline model: the tool finished and said: made"

/** Resolves with the last text of the only conversation once its turn has ended. */
const lastWords = (client: Speaker) =>
  Effect.gen(function* () {
    const list = structured(yield* client.ask("tools/call", callOf("conversationsList", {})))
    const [first] = list["conversations"] as ReadonlyArray<{ readonly conversation_id: string }>
    const waited = yield* client.ask(
      "tools/call",
      callOf("conversationWait", { conversation_id: first?.conversation_id, timeout_ms: 20_000 }),
    )
    return String(structured(waited)["last_agent_message"])
  })

interface Asked {
  readonly requestState: string
  readonly inputRequests: Readonly<Record<string, unknown>>
}

/** Resolves with the first response to a call that needs an approval. */
const asking = (world: World) =>
  Effect.gen(function* () {
    const client = yield* world.speak(forms)
    const params = callOf("codex", touching(world))
    const { result } = yield* client.ask("tools/call", params)
    assert.strictEqual(result?.["resultType"], "input_required")
    const { inputRequests, requestState } = result as unknown as Asked
    const [key = ""] = Object.keys(inputRequests)
    const again = (more: Members): Effect.Effect<Reply> =>
      client.ask("tools/call", { ...params, requestState, ...more })
    return { client, key, requestState, again }
  })

const accept = { action: "accept", content: { decision: "approved" } }

export const questions = [
  behaviour("runs a command that a person accepts", (world) =>
    Effect.gen(function* () {
      const { asked, reply } = yield* played(world, () => accept)
      assert.deepStrictEqual(
        asked.map(({ method }) => method),
        ["elicitation/create"],
      )
      assert.include(asked[0]?.params["message"], "touch made.txt")
      assert.strictEqual(textOf(reply), made)
    }),
  ),

  behaviour("does not run a command that a person declines, and the turn continues", (world) =>
    Effect.gen(function* () {
      const { reply } = yield* played(world, () => ({ action: "decline" }))
      assert.include(textOf(reply), "rejected")
      assert.notStrictEqual(reply.result?.["isError"], true)
    }),
  ),

  behaviour(
    "L7 does not run a command whose question is cancelled, and the turn continues",
    (world) =>
      Effect.gen(function* () {
        const { asked, reply } = yield* played(world, () => ({ action: "cancel" }))
        assert.lengthOf(asked, 1)
        assert.include(textOf(reply), "rejected")
        assert.notStrictEqual(reply.result?.["isError"], true)
      }),
  ),

  behaviour("L14 stops the turn whose question is answered with the decision abort", (world) =>
    Effect.gen(function* () {
      const abort = { action: "accept", content: { decision: "abort" } }
      const { reply } = yield* played(world, () => abort)
      assert.isTrue(reply.result?.["isError"])
      assert.strictEqual(textOf(reply), "Turn interrupted")
    }),
  ),

  behaviour("does not run a command whose question the client fails to answer", (world) =>
    Effect.gen(function* () {
      const { reply } = yield* played(world, () => "refused")
      assert.include(textOf(reply), "rejected")
    }),
  ),

  behaviour("asks no client that did not say that it can answer", (world) =>
    Effect.gen(function* () {
      const { asked, reply } = yield* played(world, () => accept, {})
      assert.deepStrictEqual(asked, [])
      assert.include(textOf(reply), "rejected")
    }),
  ),

  behaviour(
    "does not run a command whose question gets no answer, and withdraws the question",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(forms)
        const args = { ...touching(world), config: { approval_timeout_sec: 1 } }
        const { reply } = yield* client.begin("tools/call", callOf("codex", args))
        const question = yield* client.until(({ method }) => method === "elicitation/create")
        yield* world.pass("2 seconds")
        assert.include(textOf(yield* reply), "rejected")
        const back = yield* client.until(({ method }) => method === "notifications/cancelled")
        assert.strictEqual(back.params?.["requestId"], question.id)
      }),
    handshake,
  ),

  behaviour(
    "does not run a command whose question gets no later call",
    (world) =>
      Effect.gen(function* () {
        const client = yield* world.speak(forms)
        const args = { ...touching(world), config: { approval_timeout_sec: 1 } }
        const reply = yield* client.ask("tools/call", callOf("codex", args))
        assert.strictEqual(reply.result?.["resultType"], "input_required")
        yield* world.pass("2 seconds")
        assert.include(yield* lastWords(client), "rejected")
      }),
    stateless,
  ),

  behaviour(
    "asks again for an answer that is missing, and takes no notice of one too many",
    (world) =>
      Effect.gen(function* () {
        const { again, key } = yield* asking(world)
        const other = { another: accept }
        const second = yield* again({ inputResponses: other })
        assert.strictEqual(second.result?.["resultType"], "input_required")
        const { requestState } = second.result as unknown as Asked
        const inputResponses = { ...other, [key]: accept }
        assert.strictEqual(textOf(yield* again({ requestState, inputResponses })), made)
      }),
    stateless,
  ),

  behaviour(
    "refuses a state that is not its own, or that belongs to another call",
    (world) =>
      Effect.gen(function* () {
        const { again, client, key, requestState } = yield* asking(world)
        const inputResponses = { [key]: accept }
        const changed = yield* again({ inputResponses, requestState: `${requestState}x` })
        const moved = yield* client.ask(
          "tools/call",
          callOf("codex", { prompt: "say hi" }, { inputResponses, requestState }),
        )
        assert.deepStrictEqual(
          [changed.error?.code, moved.error?.code],
          [codes.invalidParams, codes.invalidParams],
        )
        assert.strictEqual(textOf(yield* again({ inputResponses })), made)
      }),
    stateless,
  ),

  behaviour(
    "gives the same result to a client that calls again twice, whatever the second answer says",
    (world) =>
      Effect.gen(function* () {
        const { again, client, key } = yield* asking(world)
        const replies = yield* Effect.forEach(["accept", "cancel"], (action) =>
          again({ inputResponses: { [key]: { action } } }),
        )
        assert.deepStrictEqual(replies.map(textOf), [made, made])
        const list = structured(yield* client.ask("tools/call", callOf("conversationsList", {})))
        assert.lengthOf(listIn(list, "conversations"), 1)
      }),
    stateless,
  ),
]
