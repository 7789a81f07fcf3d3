/** A server of app-server v2 in memory, with helpers for the requests and notifications of its tests. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type AppOptions, resultOf, withApp } from "./AppHarness.ts"
import type { Harness } from "./Harness.ts"
import { checked } from "./ThreadChecks.ts"
import type { WireMessage } from "./Wire.ts"

const identity = { codexHome: "/home/me/.colloquy", platformFamily: "unix", platformOs: "linux" }

/** Runs `body` against a server whose client has declared `experimentalApi`, and validates what the server sends. */
export const withThreads = <A, E>(
  options: AppOptions,
  body: (app: Harness) => Effect.Effect<A, E, Scope.Scope>,
): Effect.Effect<A, E> =>
  withApp({ capabilities: { experimentalApi: true }, identity, ...options }, (app) =>
    checked(app, body),
  )

/** The member of an object, which the test knows to be an object. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as Readonly<Record<string | number, unknown>> | undefined)?.[key],
    value,
  )

/** Starts a thread and resolves with its id. */
export const started = (app: Harness, params: object = {}, id: unknown = "start") =>
  app.ask(id, "thread/start", params).pipe(
    Effect.map((answer) => String(at(resultOf(answer), "thread", "id"))),
    Effect.tap(() => app.quiet),
  )

const words = (text: string) => [{ type: "text", text }]

/** Starts a turn and resolves with its id. */
export const turn = (
  app: Harness,
  threadId: string,
  text = "hello",
  more: object = {},
  id: unknown = "turn",
) =>
  Effect.map(app.ask(id, "turn/start", { threadId, input: words(text), ...more }), (answer) =>
    String(at(resultOf(answer), "turn", "id")),
  )

/** The params of all notifications of that method. */
export const told = ({ messages }: Pick<Harness, "messages">, method: string) =>
  messages.flatMap((message) =>
    message.method === method && message.id === undefined ? [message.params ?? {}] : [],
  )

/** The request of the server with that method. */
export const asked = ({ messages }: Pick<Harness, "messages">, method: string): WireMessage => {
  const found = messages.find((message) => message.method === method && message.id !== undefined)
  if (found === undefined) throw new Error(`no request ${method}`)
  return found
}

const short = (message: WireMessage): string => {
  const { id, method, params } = message
  if (method === undefined) return `answer ${String(id)}`
  if (id !== undefined) return `? ${method}`
  const item = at(params, "item", "type")
  const status = at(params, "status", "type")
  const about = item ?? status
  return typeof about === "string" ? `${method} ${about}` : method
}

/** One line per message: its kind, without its content. */
export const lines = ({ messages }: Pick<Harness, "messages">, from = 0) =>
  messages.slice(from).map(short)
