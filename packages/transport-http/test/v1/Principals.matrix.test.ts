/** The matrix of principals over the plain API: every route, as its definition lists them. */
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { asking, exec } from "../../../server/test/support/Asking.ts"
import { PlainApi } from "../../src/v1/PlainApi.ts"
import { type Answer, type PlainClient, withPlain } from "../support/PlainServer.ts"

const unknown = "00000000-0000-7000-8000-000000000000"
const alice = { "x-principal": "alice" }
const bob = { "x-principal": "bob" }

/** The bodies of the routes, by name; the test below fails for a route that is missing. */
const bodies: Readonly<Record<string, object | undefined>> = {
  create: {},
  list: undefined,
  get: undefined,
  fork: {},
  archive: undefined,
  unarchive: undefined,
  send: { input: "more" },
  interrupt: undefined,
  questions: undefined,
  answer: { decision: "approved" },
  events: undefined,
}

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
}

const routes: ReadonlyArray<Route> = Object.values(PlainApi.groups).flatMap((group) =>
  Object.entries(group.endpoints).map(([name, { method, path }]) => ({ name, method, path })),
)

const naming = routes.filter(({ path }) => path.includes(":id"))

/** Sends a request of the route about that conversation. An endless response is left after its beginning. */
const send = (
  client: PlainClient,
  { method, name, path }: Route,
  id: string,
  headers: Readonly<Record<string, string>>,
  seq: number,
): Effect.Effect<Pick<Answer, "status" | "body">> => {
  const address = path.replace(":id", id).replace(":seq", String(seq))
  return name === "events" && headers === alice
    ? Effect.scoped(
        Effect.map(client.events(address, headers), ({ status }) => ({ status, body: undefined })),
      )
    : client.request(method, address, bodies[name], headers)
}

/** Runs `body` with a conversation of alice that has a pending question, and the number of the question. */
const withQuestion = (
  body: (
    client: PlainClient,
    id: string,
    question: number,
  ) => Effect.Effect<void, never, Scope.Scope>,
) =>
  withPlain(
    ({ index }) => Script.reply(Script.toolCall("ask", {}, `c${index}`)),
    (client) =>
      Effect.gen(function* () {
        const made = yield* client.request("POST", "/v1/conversations", {}, alice)
        const id = String(made.body?.["conversationId"])
        const listening = yield* client.events(`/v1/conversations/${id}/events?answers=true`, alice)
        yield* client.request("POST", `/v1/conversations/${id}/turns`, { input: "hi" }, alice)
        yield* client.quiet
        const asked = listening.received.find(
          ({ data }) => Reflect.get(Object(data?.["msg"]), "type") === "exec_approval_request",
        )
        assert.isDefined(asked?.id)
        yield* body(client, id, asked?.id ?? -1)
      }),
    asking([exec]).tools,
  )

describe("the matrix of principals over the plain API", () => {
  it("has every route", () => {
    assert.sameMembers(
      Object.keys(bodies),
      routes.map(({ name }) => name),
    )
  })

  it.effect("every route treats what belongs to another principal as unknown", () =>
    withQuestion((client, id, question) =>
      Effect.gen(function* () {
        const stateOf = client.request("GET", `/v1/conversations/${id}`, undefined, alice)
        const before = yield* stateOf
        assert.strictEqual(before.body?.["openQuestions"], 1)
        for (const route of routes) {
          const foreign = yield* send(client, route, id, bob, question)
          assert.notInclude(JSON.stringify(foreign), route.path.includes(":id") ? "cwd" : id)
          if (naming.includes(route)) {
            const missing = yield* send(client, route, unknown, bob, question)
            assert.strictEqual(foreign.status, 404, route.name)
            assert.strictEqual(
              JSON.stringify(foreign).replaceAll(id, "<id>"),
              JSON.stringify(missing).replaceAll(unknown, "<id>"),
              route.name,
            )
          }
          yield* client.quiet
          assert.deepStrictEqual(yield* stateOf, before, route.name)
        }
      }),
    ),
  )

  it.effect.each(naming)("the owner gets another answer of $name", (route) =>
    withQuestion((client, id, question) =>
      Effect.map(send(client, route, id, alice, question), ({ status }) => {
        assert.notStrictEqual(status, 404)
      }),
    ),
  )
})
