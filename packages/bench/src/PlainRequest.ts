/** The provider's round trip alone: one streaming request by `node:http` with keep-alive. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"

/** Sends one body, reads the response to its end and returns the duration in milliseconds. */
export type PlainRequest = (body: string) => Effect.Effect<number>

const post = (agent: Http.Agent, url: string, body: string): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const startedAtMs = performance.now()
    const request = Http.request(
      url,
      {
        method: "POST",
        agent,
        headers: { "content-type": "application/json", accept: "text/event-stream" },
      },
      (response) => {
        response.resume()
        response.once("end", () => resume(Effect.succeed(performance.now() - startedAtMs)))
      },
    )
    request.once("error", (error) => resume(Effect.die(error)))
    request.end(body)
    return Effect.sync(() => {
      request.destroy()
    })
  })

/** Opens one connection, which is kept alive until the scope closes. */
export const make = (url: string): Effect.Effect<PlainRequest, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Http.Agent({ keepAlive: true, maxSockets: 1 })),
    (agent) => Effect.sync(() => agent.destroy()),
  ).pipe(Effect.map((agent) => (body) => post(agent, url, body)))
