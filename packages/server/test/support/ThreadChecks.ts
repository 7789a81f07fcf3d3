/** Validates everything that a server of app-server v2 sends against the definitions, with nothing missing and nothing added. */
import { type Method, methodsOf } from "@colloquy/protocol/Method"
import { AppServerV2 } from "@colloquy/protocol/thread/AppServerV2"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Harness } from "./Harness.ts"
import type { WireMessage } from "./Wire.ts"
import { faults, isMembers } from "./WireFaults.ts"

const requests = methodsOf(AppServerV2.clientToServer)
const sent = methodsOf(AppServerV2.serverToClient)

/** The requests of a client, by id. */
type Asked = Map<unknown, Method | undefined>

const faultsOf = (message: WireMessage, asked: Asked): ReadonlyArray<string> => {
  const { id, method: name, params, result } = message
  if (name !== undefined) {
    const method = sent.get(name)
    return method === undefined
      ? [`${name} is no message of this dialect`]
      : faults(method.payloadSchema, params).map((fault) => `${name}: ${fault}`)
  }
  const method = asked.get(id)
  return method === undefined || result === undefined
    ? []
    : faults(method.successSchema, result).map((fault) => `result of ${method._tag}: ${fault}`)
}

/** The same connection, whose requests are recorded, and those that it creates. */
const recorded = (app: Harness, all: Array<[Harness, Asked]>): Harness => {
  const asked: Asked = new Map()
  all.push([app, asked])
  const send: Harness["send"] = (...values) => {
    for (const value of values) {
      if (isMembers(value) && typeof value["method"] === "string" && "id" in value) {
        asked.set(value["id"], requests.get(value["method"]))
      }
    }
    return app.send(...values)
  }
  return {
    ...app,
    send,
    ask: (id, method, params) =>
      Effect.andThen(
        send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }),
        app.response(id),
      ),
    another: Effect.map(app.another, (other) => recorded(other, all)),
  }
}

/** Runs `body` and fails if anything that the server sent is not exactly as defined. */
export const checked = <A, E, R>(
  app: Harness,
  body: (app: Harness) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => {
  const all: Array<[Harness, Asked]> = []
  return Effect.tap(body(recorded(app, all)), () =>
    Effect.sync(() => {
      for (const [{ messages }, asked] of all) {
        assert.deepStrictEqual(
          messages.flatMap((message) => faultsOf(message, asked)),
          [],
        )
      }
    }),
  )
}
