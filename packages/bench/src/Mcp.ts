/** The benchmark `mcp`: the JSON-RPC peer and the built program beside the servers of the official SDK and of Effect. */
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import * as Home from "./Home.ts"
import { bundle } from "./mcp/Bundle.ts"
import { calls, type CallSizes } from "./mcp/Calls.ts"
import { map } from "./mcp/Contenders.ts"
import { eras, type EraSizes } from "./mcp/Eras.ts"
import { notifications, type NotificationSizes } from "./mcp/Notifications.ts"
import { start, type StartSizes } from "./mcp/Start.ts"

/** How often each figure is taken; larger numbers take longer and vary less. */
export interface McpCounts {
  readonly start: StartSizes
  readonly calls: CallSizes
  readonly notifications: NotificationSizes
  readonly eras: EraSizes
}

/** Takes about half a minute on two cores. */
export const full: McpCounts = {
  start: { starts: 15 },
  calls: { calls: 20_000, rounds: 9 },
  notifications: { notifications: 20_000, rounds: 9 },
  eras: { calls: 20_000, rounds: 9 },
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: McpCounts = {
  start: { starts: 1 },
  calls: { calls: 100, rounds: 1 },
  notifications: { notifications: 100, rounds: 1 },
  eras: { calls: 100, rounds: 1 },
}

const peer = (name: string) => new URL(`./peers/${name}`, import.meta.url)

const makeContenders = Effect.gen(function* () {
  const own = yield* bundle(peer("OwnTools.ts"))
  const effect = yield* bundle(peer("EffectTools.ts"))
  return {
    own: { command: { args: [own] }, share: 1 },
    // It is not bundled: it has few sources, and they load fast.
    sdk: { command: { args: [fileURLToPath(peer("SdkTools.mjs"))] }, share: 1 },
    effect: { command: { args: [effect] }, share: 0.1 },
  }
})

const makeWhole = Effect.map(bundle(peer("FeatureTools.ts")), (file) => ({
  command: { args: [file] },
  share: 1,
}))

/**
 * Measures the three servers, and prints one row per figure.
 *
 * @param bin entry of the built program
 */
export const mcp = Effect.fn("bench.mcp")(function* (counts: McpCounts, bin: string) {
  const contenders = yield* makeContenders
  const built = { args: [bin, "mcp"], env: yield* Home.make() }
  const commands = { ...map(contenders, ({ command }) => command), own: built }
  return [
    ...(yield* start(commands, counts.start)),
    ...(yield* Effect.scoped(calls(contenders, counts.calls))),
    ...(yield* Effect.scoped(notifications(contenders, counts.notifications))),
    ...(yield* eras(yield* makeWhole, counts.eras)),
  ]
}, Effect.scoped)
