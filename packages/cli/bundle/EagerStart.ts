/**
 * Marks what runs until `initialize` is answered, so that Node's compile cache holds it: to compile those functions at
 * each start takes a third of the time that a client waits. The other functions of the same files stay lazy, because to
 * read their code from the cache takes longer than the rest of the start.
 */
import type { OutputBundle, OutputChunk, Plugin } from "rolldown"
import { calledFunctions } from "./CalledFunctions.ts"
import { markEager } from "./EagerFunctions.ts"
import { filesOf } from "./LoadChunks.ts"

const entry = "colloquy.mjs"

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: { elicitation: {} },
    clientInfo: { name: "client", version: "1.0.0" },
  },
})

/** The chunks that are loaded until `initialize` is answered. */
const startedOf = (bundle: OutputBundle): ReadonlySet<string> =>
  new Set(
    Object.values(bundle)
      .filter((chunk) => chunk.type === "chunk" && ["colloquy", "start"].includes(chunk.name))
      .flatMap(({ fileName }) => [...filesOf(fileName, bundle)]),
  )

/** Has to be the last plugin that changes code. */
export const eagerStart: Plugin = {
  name: "eager-start",
  generateBundle: (_options, bundle) => {
    const chunks = Object.values(bundle).filter((one): one is OutputChunk => one.type === "chunk")
    const files = new Map(chunks.map(({ code, fileName }) => [fileName, code]))
    const run = { entry, args: ["mcp"], input: `${initialize}\n` }
    const called = calledFunctions(files, startedOf(bundle), run)
    for (const chunk of chunks) {
      const functions = called.get(chunk.fileName)
      if (functions !== undefined) chunk.code = markEager(chunk.code, functions)
    }
  },
}
