import { edges } from "./edges/Edges.ts"
import { runEdge } from "@colloquy/testing/fuzz/Runner"
import { escapeBytes } from "@colloquy/testing/fuzz/Escaped"
import * as Effect from "effect/Effect"
const [name, n, seed] = process.argv.slice(2)
for (const edge of edges()) {
  if (name && edge.name !== name) continue
  const r = await Effect.runPromise(
    runEdge(edge, { seed: Number(seed ?? 0), inputs: Number(n ?? 1000) }),
  )
  console.dir(
    { ...r, findings: r.findings.map((f) => ({ ...f, inputs: f.inputs.map(escapeBytes) })) },
    { depth: 9 },
  )
  console.log(edge.corpus.length, r.inputs / (r.elapsedMs / 1000))
}
