/** The bytes that a client writes to `colloquy app-server`. */
import * as Effect from "effect/Effect"
import { ownServer } from "../frames/Services.ts"
import * as AppServer from "@colloquy/server/AppServer"
import { GetUserAgent, Initialize, Initialized } from "@colloquy/protocol/app/Session"
import type { Contract } from "@colloquy/protocol/emit/Contract"
import type { Edge } from "@colloquy/simulation/fuzz/Edge"
import { SeededRandom } from "@colloquy/simulation/SeededRandom"
import { answersOf, callsOf, donorsOf, grouped, recorded, unsolicited } from "../frames/Corpus.ts"
import { connectionEdge, type FrameEdgeOptions, sessionEdge } from "../frames/FrameEdge.ts"

const handshake = [
  JSON.stringify({
    id: 1,
    method: Initialize._tag,
    params: {
      clientInfo: { name: "fuzz", version: "1" },
      capabilities: { approvals: "camelCase", elicitation: true },
    },
  }),
  JSON.stringify({ method: Initialized._tag }),
]

const corpusOf = (app: Contract) => {
  const draws = new SeededRandom(2)
  const inputs = grouped(handshake, callsOf(app, draws, 6), draws, 160)
  const answers = [...answersOf(app, draws), ...unsolicited, ...unsolicited]
  return {
    corpus: [...inputs, ...recorded("v0.45.0", "v0.29.0-app")],
    donors: donorsOf(inputs, answers),
  }
}

const optionsOf = (app: Contract): FrameEdgeOptions => ({
  name: "app-server-frames",
  summary: "what a client writes to `colloquy app-server`: lines, messages, methods",
  ...corpusOf(app),
  probe: GetUserAgent._tag,
  silences: false,
  bare: true,
  serve: (connection) =>
    Effect.provide(AppServer.serve(connection, { maxInFlight: 32 }), ownServer),
})

/** The edges of the app-server: one connection per input, and many inputs on one connection. */
export const appServerFrames = (app: Contract): ReadonlyArray<Edge> => {
  const options = optionsOf(app)
  return [
    connectionEdge(options),
    sessionEdge({
      ...options,
      name: "app-server-sessions",
      summary: "the same, many inputs on one connection",
    }),
  ]
}
