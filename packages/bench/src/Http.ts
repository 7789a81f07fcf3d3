/** The benchmark `http`: MCP over HTTP beside the servers of the official SDK and of Effect, each in its own process. */
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { httpCalls, type HttpCallSizes } from "./http/HttpCalls.ts"
import * as HttpProcess from "./http/HttpProcess.ts"
import { httpStreams, type HttpStreamSizes } from "./http/HttpStreams.ts"
import { bundle } from "./mcp/Bundle.ts"
import { each } from "./mcp/Contenders.ts"

/** How often each figure is taken; larger numbers take longer and vary less. */
export interface HttpCounts {
  readonly calls: HttpCallSizes
  readonly streams: HttpStreamSizes
}

/** Takes about half a minute on two cores. */
export const full: HttpCounts = {
  calls: { calls: 1920, rounds: 5 },
  streams: { streams: 100, rounds: 5, sessions: 1000 },
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: HttpCounts = {
  calls: { calls: 64, rounds: 1 },
  streams: { streams: 2, rounds: 1, sessions: 10 },
}

const peer = (name: string) => new URL(`./peers/${name}`, import.meta.url)

/** Measures the three servers, and prints one row per figure. */
export const http = Effect.fn("bench.http")(function* (counts: HttpCounts) {
  const own = yield* bundle(peer("HttpOwn.ts"))
  const effect = yield* bundle(peer("HttpEffect.ts"))
  // It is not bundled: it has few sources, and they load fast.
  const sdk = fileURLToPath(peer("HttpSdk.mjs"))
  const servers = yield* each(
    { own: [own], sdk: [sdk, "json"], effect: [effect] },
    HttpProcess.make,
  )
  const floors = {
    node: yield* HttpProcess.make([fileURLToPath(peer("HttpFloor.mjs"))]),
    effect: yield* HttpProcess.make([yield* bundle(peer("HttpEffectFloor.ts"))]),
  }
  const streaming = { ...servers, sdk: yield* HttpProcess.make([sdk]) }
  return [
    ...(yield* Effect.scoped(httpCalls(servers, floors, counts.calls))),
    ...(yield* Effect.scoped(httpStreams(streaming, counts.streams))),
  ]
}, Effect.scoped)
