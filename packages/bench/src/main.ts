/**
 * The entry of `npm run bench`: lists the benchmarks or runs one and prints its table. A missed aim is a line in the
 * table and no failure. Exit codes: 0 done, 1 it could not run, 2 the command line is wrong.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { parse } from "./Arguments.ts"
import * as Machine from "./Machine.ts"
import * as Stdio from "./Stdio.ts"
import * as Table from "./Table.ts"

const about = {
  stdio: "the built program over its standard streams: start, turns, deltas, pings",
} as const

const usage = `Benchmarks, for \`npm run bench -- <name>\`:

${Object.entries(about)
  .map(([name, text]) => `  ${name}  ${text}`)
  .join("\n")}

Options: \`--quick\` only shows that it runs; \`--bin <path>\` measures another build's entry.
`

const print = (text: string) => Effect.sync(() => process.stdout.write(text))

const leave = (code: number, complaint: string) =>
  Effect.sync(() => {
    process.stderr.write(`bench: ${complaint}\n`)
    process.exitCode = code
  })

const run = Effect.fn("bench.run")(function* (quick: boolean, bin: string) {
  yield* print(`${Machine.describe()}\n\n`)
  const rows = yield* Stdio.stdio(quick ? Stdio.quick : Stdio.full, bin)
  yield* print(`${Table.render(rows)}\n`)
})

const main = Effect.suspend((): Effect.Effect<unknown> => {
  const invocation = parse(process.argv.slice(2), Object.keys(about))
  switch (invocation._tag) {
    case "List":
      return print(usage)
    case "Unclear":
      return leave(2, `${invocation.message}; \`npm run bench\` shows what there is`)
    case "Run": {
      const bin = invocation.bin ?? Stdio.entry
      return existsSync(bin)
        ? run(invocation.quick, bin)
        : leave(1, `${bin} is missing, run \`npm run build\``)
    }
  }
})

NodeRuntime.runMain(main)
